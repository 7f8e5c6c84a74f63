"""Samples of 16 bits from file to file: every stage against NumPy, OpenCV and SciPy, which also write and read the files."""

import io
import json
import pathlib
import subprocess
import sys

import cv2
import numpy as np
import pytest
import scipy.ndimage
from PIL import Image

from oracle_images import SEED, assert_same, channels_of, random_image, read_png, size_name, smooth_image, write_png

MAKE = pathlib.Path(__file__).parent.parent / "corpus" / "make_corpus.py"
TOP = 65535
SIZES = [(1, 1), (15, 1), (1, 15), (17, 31), (300, 211)]
CHANNELS = [1, 2, 3, 4]


def words(size, channels):
    """Noise of all 16 bits, with the ends of the range among it."""
    shape = (size[1], size[0]) if channels == 1 else (size[1], size[0], channels)
    image = np.random.default_rng([SEED, 16, *size, channels]).integers(0, TOP + 1, shape, np.uint16)
    image.ravel()[::7] = np.resize([0, TOP, 32768, 32767, 255, 256], image.ravel()[::7].shape)
    return image


def smooth_words(size, channels):
    """Gradients whose low bytes are no copies of the high ones."""
    y, x = np.mgrid[0 : size[1], 0 : size[0]].astype(np.float64)
    waves = [32767 + 32000 * np.sin(x / (29 + 9 * c) + y / (37 - 3 * c) + c) for c in range(channels)]
    image = np.rint(np.stack(waves, axis=-1)).astype(np.uint16)
    return image[..., 0] if channels == 1 else image


def planes(image):
    """Colour planes and the alpha plane or None, as exact Python integers."""
    every = [image] if image.ndim == 2 else list(np.moveaxis(image, -1, 0))
    every = [p.astype(object) for p in every]
    return (every[:-1], every[-1]) if len(every) in (2, 4) else (every, None)


def join(every, like):
    return np.stack([p.astype(np.uint16) for p in every], axis=-1).reshape(like.shape)


def colours_of(image):
    return image[..., None] if image.ndim == 2 else image[..., : image.shape[2] - (image.shape[2] in (2, 4))]


def with_colours(image, colours):
    """The image with other colours and its own alpha."""
    if image.ndim == 2:
        return colours.reshape(image.shape)
    result = image.copy()
    result[..., : colours.shape[2]] = colours
    return result


def luma(image, weights=(9798, 19235, 3735)):
    r, g, b = (image[..., c].astype(np.int64) for c in range(3))
    return ((weights[0] * r + weights[1] * g + weights[2] * b + 16384) >> 15).astype(np.uint16)


def gray_of(image, **options):
    if channels_of(image) < 3:
        return image
    gray = luma(image, **options)
    return np.dstack([gray, image[..., 3]]) if channels_of(image) == 4 else gray


# ---- files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0, 1, 2, 6, 9])
@pytest.mark.parametrize("channels", CHANNELS)
@pytest.mark.parametrize("make", [words, smooth_words])
def test_pixels_pass_unchanged(gpuimg, channels, level, make, tmp_path):
    """Through every filter and the bands of rows of the writer: a stage that changes nothing."""
    # zlib's level 9 takes ten times as long as others: there, two of the writer's bands are enough.
    for size in [*SIZES, (700, 900 // channels if level == 9 else 900)]:
        image = make(size, channels)
        write_png(tmp_path / "in.png", image)
        for codec in ("auto", "stb"):
            options = ("--png-level", level, "--codec", codec)
            gpuimg.run("run", "blur sigma=0.01", *options, tmp_path / "in.png", tmp_path / "out.png")
            if channels not in (2, 4):  # alpha 0 makes colours black
                assert_same(read_png(tmp_path / "out.png"), image, f"{size_name(size)}, level {level}, {codec}")
            gpuimg.run("threshold", "--level", TOP, *options, tmp_path / "in.png", tmp_path / "out.png")
            expected = with_colours(image, np.zeros_like(colours_of(image)))
            assert_same(read_png(tmp_path / "out.png"), expected, f"alpha, {size_name(size)}, {codec}")


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_opencvs_files(gpuimg, channels, tmp_path):
    """libpng's filters at our reader, and Pillow at our gray."""
    image = smooth_words((333, 222), channels)
    bgr = image if channels == 1 else cv2.cvtColor(image, cv2.COLOR_RGB2BGR if channels == 3 else cv2.COLOR_RGBA2BGRA)
    for strategy in range(5):
        cv2.imwrite(str(tmp_path / "in.png"), bgr, [cv2.IMWRITE_PNG_STRATEGY, strategy])
        gpuimg.run("gray", tmp_path / "in.png", tmp_path / "out.png")
        assert_same(read_png(tmp_path / "out.png"), gray_of(image), f"strategy {strategy}")
    if channels == 1:
        with Image.open(tmp_path / "out.png") as opened:
            assert_same(np.asarray(opened).astype(np.uint16), image, "Pillow")


def test_interlaced_and_keyed(gpuimg, tmp_path):
    """The corpus has files of 16 bits as no library here writes them."""
    folder = tmp_path / "corpus"
    subprocess.run([sys.executable, MAKE, folder], check=True)
    entries = [e for e in json.loads((folder / "manifest.json").read_text()) if "reference16" in e]
    assert len(entries) >= 8
    for entry in entries:
        gpuimg.run("threshold", "--level", 30001, folder / entry["file"], tmp_path / "out.png")
        expected = np.load(folder / entry["reference16"])
        if expected.shape[2] == 1:
            expected = expected[..., 0]
        white = with_colours(expected, np.where(colours_of(expected) > 30001, TOP, 0).astype(np.uint16))
        assert_same(read_png(tmp_path / "out.png"), white, entry["file"])
        gpuimg.run("gray", folder / entry["file"], tmp_path / "out.png")
        assert_same(read_png(tmp_path / "out.png"), gray_of(expected), entry["file"])


# ---- --depth ------------------------------------------------------------------------------------------------------


def test_every_value_goes_down_and_up(gpuimg, tmp_path):
    ramp = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    write_png(tmp_path / "in.png", ramp)
    gpuimg.run("gray", "--depth", 8, tmp_path / "in.png", tmp_path / "down.png")
    expected = ((ramp.astype(np.int64) * 255 + 32767) // 65535).astype(np.uint8)
    assert np.array_equal(expected, np.rint(ramp / 257).astype(np.uint8))
    assert_same(read_png(tmp_path / "down.png"), expected, "down")
    gpuimg.run("gray", "--depth", 16, tmp_path / "down.png", tmp_path / "up.png")
    assert_same(read_png(tmp_path / "up.png"), expected.astype(np.uint16) * 257, "up")
    gpuimg.run("gray", tmp_path / "in.png", tmp_path / "same.png")
    assert_same(read_png(tmp_path / "same.png"), ramp, "kept")


@pytest.mark.parametrize("channels", CHANNELS)
def test_eight_bits_in_sixteen(gpuimg, channels, tmp_path):
    image = random_image((37, 23), channels)
    write_png(tmp_path / "in.png", image)
    gpuimg.run("gray", "--depth", 16, tmp_path / "in.png", tmp_path / "out.png")
    assert_same(read_png(tmp_path / "out.png"), gray_of(image.astype(np.uint16) * 257), f"{channels} channels")
    gpuimg.run("blur", "--sigma", 2, "--depth", 16, tmp_path / "in.png", tmp_path / "out.png")
    wide = read_png(tmp_path / "out.png")
    assert np.any(wide % 257 != 0)  # what 8 bits would have rounded away


def test_jpeg_in_sixteen_and_back(gpuimg, tmp_path):
    image = smooth_words((160, 120), 3)
    write_png(tmp_path / "in.png", image)
    down = ((image.astype(np.int64) * 255 + 32767) // 65535).astype(np.uint8)
    write_png(tmp_path / "down.png", down)
    done = gpuimg.run("threshold", "--level", 0, "-v", tmp_path / "in.png", tmp_path / "out.jpg")
    assert "JPEG has 8 bits" in done.stderr
    for name in ("in", "down"):
        gpuimg.run("run", "blur sigma=0.01", tmp_path / f"{name}.png", tmp_path / f"{name}.jpg")
    assert (tmp_path / "in.jpg").read_bytes() == (tmp_path / "down.jpg").read_bytes()
    decoded = np.asarray(Image.open(io.BytesIO((tmp_path / "in.jpg").read_bytes())).convert("RGB"))
    gpuimg.run("run", "blur sigma=0.01", "--depth", 16, tmp_path / "in.jpg", tmp_path / "out.png")
    assert np.abs(read_png(tmp_path / "out.png").astype(int) - decoded.astype(int) * 257).max() <= 3 * 257


@pytest.mark.parametrize("channels", [2, 4])
def test_alpha_of_sixteen_bits_on_a_background(gpuimg, channels, tmp_path):
    image = words((40, 30), channels)
    alpha = image[..., -1:].astype(np.float64) / TOP
    flat = np.rint((image[..., :-1] * alpha + 257 * 30 * (1 - alpha)) / 257).astype(np.uint8)
    write_png(tmp_path / "flat.png", flat[..., 0] if channels == 2 else flat)
    write_png(tmp_path / "in.png", image)
    gpuimg.run("heat", "--mode", "linear", "--alpha", 1e-9, "--dt", 1e-9, "--background", "30,30,30",
               tmp_path / "in.png", tmp_path / "in.jpg")  # fmt: skip
    gpuimg.run("heat", "--mode", "linear", "--alpha", 1e-9, "--dt", 1e-9, tmp_path / "flat.png", tmp_path / "flat.jpg")
    assert (tmp_path / "in.jpg").read_bytes() == (tmp_path / "flat.jpg").read_bytes()


def test_reduction_never_takes_bits(gpuimg, tmp_path):
    """Few colours, black and white, or values whose two bytes are the same: 16 bits stay 16."""
    for image in (words((40, 30), 1), np.full((20, 20, 3), 257, np.uint16), np.zeros((9, 9, 4), np.uint16)):
        write_png(tmp_path / "in.png", image)
        for reduce in ("on", "auto", "off"):
            gpuimg.run("threshold", "--png-reduce", reduce, tmp_path / "in.png", tmp_path / "out.png")
            assert (tmp_path / "out.png").read_bytes()[24] == 16
            expected = with_colours(image, np.where(colours_of(image) > 32768, TOP, 0).astype(np.uint16))
            assert_same(read_png(tmp_path / "out.png"), expected, reduce)


# ---- stages -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", CHANNELS)
def test_gray(gpuimg, channels):
    for size in SIZES:
        image = words(size, channels)
        assert_same(gpuimg.process(image, "gray"), gray_of(image), size_name(size))
        expected = gray_of(image, weights=(6966, 23436, 2366))
        assert_same(gpuimg.process(image, "gray", "--weights", 709), expected, f"709, {size_name(size)}")


def test_gray_linear(gpuimg):
    image = words((200, 100), 3)
    code = np.arange(65536) / TOP
    decoded = np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)
    light = 0.2126 * decoded[image[..., 0]] + 0.7152 * decoded[image[..., 1]] + 0.0722 * decoded[image[..., 2]]
    exact = TOP * np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    # Two units of 2^-30 of light, at the foot of the curve 12.92 * 65535 levels for each: 1.6e-3 levels.
    assert np.abs(gpuimg.process(image, "gray", "--weights", "linear") - exact).max() <= 0.5 + 2e-3


@pytest.mark.parametrize("level", [None, 0, 255, 256, 32768, 65534, 65535])
@pytest.mark.parametrize("channels", CHANNELS)
def test_threshold(gpuimg, channels, level):
    for size in SIZES:
        image = words(size, channels)
        options = () if level is None else ("--level", level)
        white = np.where(colours_of(image) > (32768 if level is None else level), TOP, 0).astype(np.uint16)
        assert_same(gpuimg.process(image, "threshold", *options), with_colours(image, white), f"{size}, {level}")


def test_a_level_that_eight_bits_do_not_have(gpuimg, tmp_path):
    write_png(tmp_path / "8.png", random_image((5, 4), 1))
    write_png(tmp_path / "16.png", words((5, 4), 1))
    done = gpuimg.run("threshold", "--level", 256, tmp_path / "8.png", tmp_path / "out.png", expect=1)
    assert "255" in done.stderr and not (tmp_path / "out.png").exists()
    gpuimg.run("threshold", "--level", 256, tmp_path / "16.png", tmp_path / "out.png")
    gpuimg.run("threshold", "--level", 256, "--depth", 16, tmp_path / "8.png", tmp_path / "out.png")
    gpuimg.run("threshold", "--level", 256, "--depth", 8, tmp_path / "16.png", tmp_path / "no.png", expect=1)


def otsu(values):
    """The level with the largest variance between the classes, in exact integers; the first of equals."""
    counts = np.bincount(values.ravel(), minlength=65536)
    n, total = int(values.size), int((np.arange(65536) * counts).sum())
    best, level, below, sum_below = -1, 0, 0, 0
    for v in np.flatnonzero(counts):
        below, sum_below = below + int(counts[v]), sum_below + int(v) * int(counts[v])
        if below == n:
            break
        numerator = (total * below - sum_below * n) ** 2
        denominator = below * (n - below)
        if best == -1 or numerator * best[1] > best[0] * denominator:
            best, level = (numerator, denominator), int(v)
    return level


@pytest.mark.parametrize("size", SIZES[3:], ids=size_name)
def test_otsu(gpuimg, size, tmp_path):
    rng = np.random.default_rng(SEED)
    image = np.where(rng.random((size[1], size[0])) < 0.3, 41000, 17000) + rng.normal(0, 4000, (size[1], size[0]))
    image = np.clip(image, 0, TOP).astype(np.uint16)
    write_png(tmp_path / "in.png", image)
    level = otsu(image)
    done = gpuimg.run("threshold", "--level", "otsu", "-v", tmp_path / "in.png", tmp_path / "out.png")
    assert f" {level}" in done.stderr
    assert_same(read_png(tmp_path / "out.png"), np.where(image > level, TOP, 0).astype(np.uint16), f"otsu {level}")
    theirs, _ = cv2.threshold(image, 0, TOP, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    assert abs(theirs - level) <= 40  # in doubles, over a plateau where all levels between are as good


def table_of(values):
    counts = np.bincount(values.ravel(), minlength=65536)
    first = int(np.flatnonzero(counts)[0])
    rest = int(values.size - counts[first])
    if rest == 0:
        return np.arange(65536)
    sums = np.cumsum(counts) - counts[first]
    level, left = np.divmod(sums.astype(np.int64) * TOP, rest)
    table = level + ((2 * left > rest) | ((2 * left == rest) & (level % 2 == 1)))
    table[: first + 1] = 0
    return table


@pytest.mark.parametrize("channels", CHANNELS)
def test_equalize(gpuimg, channels):
    for size in SIZES:
        image = words(size, channels) // 3 + 7000
        colours = colours_of(image).astype(np.int64)
        each = np.stack([table_of(colours[..., c])[colours[..., c]] for c in range(colours.shape[2])], axis=-1)
        result = gpuimg.process(image, "equalize", "--mode", "channel")
        assert_same(result, with_colours(image, each.astype(np.uint16)), f"channel, {size_name(size)}")
        if colours.shape[2] == 3:
            gray = luma(image)
            each = np.clip(colours + (table_of(gray)[gray].astype(np.int64) - gray)[..., None], 0, TOP)
        result = gpuimg.process(image, "equalize")
        assert_same(result, with_colours(image, each.astype(np.uint16)), f"luma, {size_name(size)}")


def half_up(a, b):
    return (2 * a + b) // (2 * b)


def sums(plane, taps, axis):
    """Over reflected neighbours, exactly."""
    radius = len(taps) // 2
    width = [(radius, radius) if i == axis else (0, 0) for i in range(2)]
    padded = np.pad(plane, width, mode="reflect") if plane.shape[axis] > 1 else np.pad(plane, width, mode="edge")
    return sum(int(t) * padded.take(range(k, k + plane.shape[axis]), axis) for k, t in enumerate(taps))


def quotient(a, b):
    safe = np.where(b > 0, b, 1)
    return np.where(b > 0, np.minimum(half_up(a, safe), TOP), 0)


@pytest.mark.parametrize("channels", CHANNELS)
def test_box(gpuimg, channels):
    for size, radius in zip(SIZES[:4], [0, 3, 5, 9]):
        image = words(size, channels)
        taps, n = [1] * (2 * radius + 1), (2 * radius + 1) ** 2
        colours, alpha = planes(image)
        if alpha is None:
            made = [half_up(sums(sums(c, taps, 0), taps, 1), n) for c in colours]
        else:
            weight = sums(sums(alpha, taps, 0), taps, 1)
            made = [quotient(sums(sums(c * alpha, taps, 0), taps, 1), weight) for c in colours] + [half_up(weight, n)]
        result = gpuimg.process(image, "blur", "--radius", radius)
        assert_same(result, join(made, image), f"{size_name(size)}, radius {radius}")


def gauss(image, sigma):
    """The wide form of the rules: taps of 24 bits, 8 fraction bits between the passes."""
    k = np.arange(-int(np.ceil(4 * sigma)), int(np.ceil(4 * sigma)) + 1)
    g = np.exp(-(k**2) / (2 * sigma**2))
    taps = np.floor(2**24 * (g / g.sum()) + 0.5).astype(np.int64)
    taps[len(k) // 2] += 2**24 - taps.sum()
    colours, alpha = planes(image)
    if alpha is None:
        made = [half_up(sums(c, taps, 0) * 2**8, 2**24) for c in colours]
        return join([half_up(sums(c, taps, 1), 2**32) for c in made], image)
    weight = sums((sums(alpha, taps, 0) + 2**7) // 2**8, taps, 1) // 2**8
    mixed = [sums((sums(c * alpha, taps, 0) + 2**15) // 2**16, taps, 1) for c in colours]
    return join([quotient(m, weight) for m in mixed] + [quotient(weight, 0 * weight + 2**32)], image)


@pytest.mark.parametrize("channels", CHANNELS)
def test_gauss(gpuimg, channels):
    for size, sigma in zip([(17, 31), (31, 17), (40, 40)], [0.7, 2, 3.3]):
        image = words(size, channels)
        result = gpuimg.process(image, "blur", "--sigma", sigma)
        assert_same(result, gauss(image, sigma), f"{size_name(size)}, sigma {sigma}")


@pytest.mark.parametrize("sigma", [0.5, 3, 20])
def test_gauss_as_scipy(gpuimg, sigma):
    image = words((200, 150), 1)
    expected = scipy.ndimage.gaussian_filter(image.astype(np.float64), sigma, mode="mirror", truncate=4)
    result = gpuimg.process(image, "blur", "--sigma", sigma)
    assert np.abs(result - expected).max() <= 1


def heat(image, steps, inner, kind):
    """`kind`: float32 for the linear mode, which is exact, double for the other."""
    t = colours_of(image).astype(kind) / kind(TOP)
    for _ in range(steps):
        padded = np.pad(t, ((1, 1), (1, 1), (0, 0)))
        around = ((padded[:-2, 1:-1] + padded[2:, 1:-1]) + padded[1:-1, :-2]) + padded[1:-1, 2:]
        if kind is np.float32:
            t = t + np.float32(0.25 * 0.1) * (around - np.float32(4) * t)
            continue
        for _ in range(inner):
            new = t + 0.025 * np.tanh(around - 4 * t)
            t = 0.99 * new + 0.01 * np.sin(new)
    return with_colours(image, (np.clip(t, 0, 1) * kind(TOP) + kind(0.5)).astype(np.uint16))


@pytest.mark.parametrize("channels", CHANNELS)
def test_heat(gpuimg, channels):
    for size, steps in zip(SIZES[:4], [1, 2, 3, 4]):
        image = words(size, channels)
        result = gpuimg.process(image, "heat", "--mode", "linear", "--steps", steps)
        assert_same(result, heat(image, steps, 1, np.float32), f"linear, {size_name(size)}, {steps} steps")
        result = gpuimg.process(image, "heat", "--steps", steps, "--inner", 20)
        # float32 with tanh and sin to 2e-7 against doubles: a few units of 2^-22 a step, of 65535 levels.
        far = np.abs(result.astype(int) - heat(image, steps, 20, np.float64))
        assert far.max() <= 2, (size, steps, far.max())


@pytest.mark.parametrize("channels", CHANNELS)
def test_hist(gpuimg, channels, tmp_path):
    image = words((300, 211), channels)
    write_png(tmp_path / "in.png", image)
    report = json.loads(gpuimg.run("hist", "--format", "json", tmp_path / "in.png").stdout)["images"][0]
    assert len(report["channels"]) == channels
    for c, channel in enumerate(report["channels"]):
        values = image if channels == 1 else image[..., c]
        assert channel["bins"] == np.bincount(values.ravel(), minlength=65536).tolist()
        assert (channel["min"], channel["max"]) == (values.min(), values.max())
        assert np.isclose(channel["mean"], values.mean(dtype=np.float64), rtol=1e-12)
        assert np.isclose(channel["std"], values.std(dtype=np.float64), rtol=1e-9)
        assert channel["median"] == np.sort(values.ravel())[(values.size + 1) // 2 - 1]
        assert channel["clipped_shadows"] == np.count_nonzero(values == 0)
        assert channel["clipped_highlights"] == np.count_nonzero(values == TOP)
        assert channel["otsu"] == otsu(values)
    report = json.loads(gpuimg.run("hist", "--format", "json", "--bins", 100, tmp_path / "in.png").stdout)["images"][0]
    values = image if channels == 1 else image[..., 0]
    expected = np.bincount(values.ravel().astype(np.int64) * 100 // 65536, minlength=100).tolist()
    assert report["channels"][0]["bins"] == expected


@pytest.mark.parametrize("format", ["txt", "csv", "svg", "png", "html"])
def test_every_report(gpuimg, format, tmp_path):
    write_png(tmp_path / "in.png", smooth_words((200, 100), 3))
    gpuimg.run("hist", "-o", tmp_path / f"report.{format}", tmp_path / "in.png")
    assert (tmp_path / f"report.{format}").stat().st_size > 500
    if format in ("svg", "png", "html"):
        assert (tmp_path / f"report.{format}").stat().st_size < 500_000  # 65536 bins are drawn as far as one can see


def test_totals_do_not_mix_depths(gpuimg, tmp_path):
    write_png(tmp_path / "8.png", smooth_image((30, 20)))
    write_png(tmp_path / "16.png", smooth_words((30, 20), 3))
    both = (tmp_path / "8.png", tmp_path / "16.png")
    done = gpuimg.run("hist", "--total", *both, expect=1)
    assert "--depth" in done.stderr
    for depth, levels in ((8, 256), (16, 65536)):
        done = gpuimg.run("hist", "--total", "--depth", depth, "--format", "json", *both)
        channel = json.loads(done.stdout)["images"][0]["channels"][0]
        assert len(channel["bins"]) == levels and channel["count"] == 1200


def test_reduce(gpuimg, tmp_path):
    image = words((300, 211), 3)
    write_png(tmp_path / "in.png", image)
    for operation, made in (("sum", np.sum), ("max", np.max), ("min", np.min)):
        lines = gpuimg.run("reduce", operation, tmp_path / "in.png").stdout.split()
        assert lines == [v for c, name in enumerate(("red", "green", "blue"))
                         for v in (name, str(int(made(image[..., c].astype(np.int64)))))]  # fmt: skip


@pytest.mark.parametrize("rows", [1, 7, 64])
def test_bands_change_nothing(gpuimg, rows, tmp_path):
    image = smooth_words((211, 300), 4)
    pipeline = "blur sigma=2 | gray | heat steps=2 inner=3 | threshold otsu"
    expected = gpuimg.process(image, "run", pipeline)
    gpuimg.environment["GPUIMG_BAND_ROWS"] = str(rows)
    assert_same(gpuimg.process(image, "run", pipeline), expected, f"bands of {rows} rows")
