"""PNG by the specification: every colour type, depth, interlace and filter at sizes 1 to 40, and files that are odd in one
thing each, against the samples that were stored, and against libpng where it was found when this was built.

A box of radius 0 hands pixels through, but for colours where there is no alpha. Whole folders are done in one run each."""

import os
import pathlib
import subprocess
import sys
import zlib

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "corpus"))
from make_corpus import ADAM7, SAMPLES, chunk, ihdr, pack_rows, png, png_pixels  # noqa: E402
from png_oddities import oddities  # noqa: E402

from oracle_images import assert_same  # noqa: E402

LARGEST = 40
MIXED = 5  # in the place of a filter: each row has another
LIBPNG = os.environ.get("GPUIMG_LIBPNG_PIXELS")
CODECS = ("auto", "zlib", "stb")


def by_libpng(paths):
    """The pixels of each file, or the reason why there are none."""
    names = "".join(f"{path}\n" for path in paths).encode()
    out = subprocess.run([LIBPNG], input=names, capture_output=True, check=True).stdout
    found, at = [], 0
    for _ in paths:
        end = out.index(b"\n", at)
        width, height, channels, bits, *reason = out[at:end].decode().split(" ", 4)
        shape = int(height), int(width), int(channels)
        size = shape[0] * shape[1] * shape[2] * int(bits) // 8
        pixels = np.frombuffer(out[end + 1 : end + 1 + size], np.uint16 if bits == "16" else np.uint8)
        found.append(reason[0] if reason else pixels.reshape(shape))
        at = end + 1 + size
    return found


def read(paths):
    """Those of our own making, which any decoder reads; where there is no libpng, NumPy and zlib."""
    return by_libpng(paths) if LIBPNG else [plain_pixels(path.read_bytes()) for path in paths]


def plain_pixels(data):
    """Of an image that is not interlaced and has no filters, as level 0 writes it."""
    width, height, depth, colour = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big"), data[24], data[25]
    stream, at = b"", 8
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        stream += data[at + 8 : at + 8 + size] if data[at + 4 : at + 8] == b"IDAT" else b""
        at += size + 12
    rows = np.frombuffer(zlib.decompress(stream), np.uint8).reshape(height, -1)
    assert not rows[:, 0].any() and colour != 3
    samples = np.ascontiguousarray(rows[:, 1:]).view(">u2" if depth == 16 else np.uint8)
    return samples.reshape(height, width, -1).astype(np.uint16 if depth == 16 else np.uint8)


def handed_through(folder, out, *options):
    command = [os.environ["GPUIMG"], "blur", "--radius", 0, "--device", "cpu", "--png-level", 0, "--png-reduce", "off", *options,
               folder, out]
    return subprocess.run(list(map(str, command)), capture_output=True, timeout=600)


def without_colour_where_transparent(pixels):
    pixels = np.array(pixels)
    if pixels.shape[2] in (2, 4):
        pixels[pixels[..., -1] == 0] = 0
    return pixels


def predictions(rows, pixel):
    """What each of the five filters takes for the bytes of all rows, straight from the specification."""
    cur = rows.astype(int)
    up = np.vstack([np.zeros((1, cur.shape[1]), int), cur[:-1]])
    left, corner = (np.hstack([np.zeros((len(cur), pixel), int), a])[:, : cur.shape[1]] for a in (cur, up))
    p = left + up - corner
    pa, pb, pc = abs(p - left), abs(p - up), abs(p - corner)
    paeth = np.where((pa <= pb) & (pa <= pc), left, np.where(pb <= pc, up, corner))
    return np.stack([0 * cur, left, up, (left + up) // 2, paeth])


def filtered(samples, depth, interlace, kind):
    pixel, out = max(1, samples.shape[2] * depth // 8), b""
    for x0, y0, dx, dy in ADAM7 if interlace else [(0, 0, 1, 1)]:
        part = samples[y0::dy, x0::dx]
        if not part.size:
            continue
        rows = np.stack([np.frombuffer(row, np.uint8) for row in pack_rows(part, depth)])
        kinds = np.arange(len(rows)) * 3 % 5 if kind == MIXED else np.full(len(rows), kind)
        bytes_ = (rows - predictions(rows, pixel)[kinds, np.arange(len(rows))]) & 255
        out += np.hstack([kinds[:, None], bytes_]).astype(np.uint8).tobytes()
    return out


def images(colour, depth, interlace):
    """Files and pixels by names: each width, with six heights, a filter each; every other one with a tRNS."""
    rng = np.random.default_rng([colour, depth, interlace])
    for kind in range(MIXED + 1):
        for width in range(1, LARGEST + 1):
            height = 1 + (width * (2 * kind + 1) * 3 + 7 * kind) % LARGEST
            high = min(2**depth, 100) if colour == 3 else 2**depth
            samples = rng.integers(0, high, (height, width, SAMPLES[colour]))
            samples[: height // 2 + 1, width // 3 :] = samples[0, 0]  # runs, and what the key is met by
            before, palette, trns = b"", None, None
            if colour == 3:
                palette = rng.integers(0, 256, (high, 3))
                before = chunk(b"PLTE", palette.astype(np.uint8).tobytes())
            if (width + kind) % 2 and colour in (0, 2, 3):
                trns = rng.integers(0, 256, 1 + width % high) if colour == 3 else samples[0, 0]
                before += chunk(b"tRNS", trns.astype(np.uint8 if colour == 3 else ">u2").tobytes())
            data = png(ihdr(width, height, depth, colour, interlace), filtered(samples, depth, interlace, kind), before)
            pixels = png_pixels(samples, depth, colour, palette, trns, 65535 if depth == 16 else 255)
            yield f"{width}x{height}-filter{kind}", data, pixels.astype(np.uint16 if depth == 16 else np.uint8)


@pytest.mark.parametrize("depth", (1, 2, 4, 8, 16))
@pytest.mark.parametrize("colour", SAMPLES)
def test_every_size(tmp_path, colour, depth):
    if (depth < 8 and colour not in (0, 3)) or (depth == 16 and colour == 3):
        pytest.skip("no such image")
    folder = tmp_path / "in"
    folder.mkdir()
    expected = {}
    for interlace in (0, 1):
        for name, data, pixels in images(colour, depth, interlace):
            (folder / f"{name}-{interlace}.png").write_bytes(data)
            expected[f"{name}-{interlace}.png"] = pixels
    if LIBPNG:
        for name, pixels in zip(expected, by_libpng([folder / name for name in expected])):
            assert_same(pixels, expected[name], f"libpng: {name}")
    for codec in CODECS:
        out = tmp_path / codec
        run = handed_through(folder, out, "--codec", codec, "--strict")
        if codec == "zlib" and b"zlib was not built in" in run.stderr:
            continue
        assert run.returncode == 0, run.stderr
        for name, pixels in zip(expected, read([out / name for name in expected])):
            assert_same(pixels, without_colour_where_transparent(expected[name]), f"{codec}: {name}")


@pytest.fixture(scope="module")
def odd(tmp_path_factory):
    folder = tmp_path_factory.mktemp("odd")
    made = {}
    for name, data, pixels in oddities():
        (folder / f"{name}.png").write_bytes(data)
        made[f"{name}.png"] = pixels
    return folder, made


@pytest.mark.parametrize("codec", CODECS)
def test_odd_files(odd, tmp_path, codec):
    """Those with pixels decode to them, without a warning; the others are refused by name. """
    folder, made = odd
    out = tmp_path / "out"
    run = handed_through(folder, out, "--codec", codec)
    if codec == "zlib" and b"zlib was not built in" in run.stderr:
        pytest.skip("built without zlib")
    said = run.stderr.decode(errors="replace")
    done = [name for name in made if (out / name).exists()]
    for name, pixels in zip(done, read([out / name for name in done])):
        if made[name] is not None:
            assert_same(pixels, without_colour_where_transparent(made[name]).astype(pixels.dtype), name)
    unexpected = [name for name in made if (made[name] is not None) != (name in done)]
    assert not unexpected
    for name in made:
        assert (f"/{name}: damaged PNG: " in said) != (name in done), (name, said)


@pytest.mark.skipif(not LIBPNG, reason="built without libpng")
def test_odd_files_as_by_libpng(odd):
    """What decodes here decodes there, to the same pixels."""
    folder, made = odd
    for name, pixels in zip(made, by_libpng([folder / name for name in made])):
        if made[name] is not None and not name.startswith("exif-"):  # it leaves the orientation to others
            assert not isinstance(pixels, str), (name, pixels)
            assert_same(pixels, made[name].astype(pixels.dtype), name)
