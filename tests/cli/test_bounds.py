"""What hostile files may cost: no more memory than a sound image of the size that the header tells, and a constant; no
more processor time than that image, times a constant.

Memory is the peak of the whole process, time what it had of the processors: both without what others do meanwhile."""

import functools
import json
import os
import pathlib
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "corpus"))
import jpeg_oddities  # noqa: E402
import make_corpus  # noqa: E402
from make_corpus import SIGNATURE, chunk, ihdr, jpeg, scene, segment  # noqa: E402

MEGABYTE = 1 << 20
MEMORY = 24 * MEGABYTE  # over what the sound image took, and twice the file: metadata of 8 MB, packed and not
TIMES = 20
SECONDS = 0.5  # starting the program, and what the clock does not see


# A process's peak begins with that of the one it was forked from, until it ran a program of its own: so a small one
# does that. Command lines in, as JSON; exit status, peak in KB and seconds of processor time out.
RUNNER = """
import json, os, sys
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        command = json.loads(line)
        os.execv(command[0], command)
    _, status, used = os.wait4(pid, 0)
    print(os.waitstatus_to_exitcode(status), used.ru_maxrss, used.ru_utime + used.ru_stime, flush=True)
"""


@pytest.fixture
def cost(gpuimg, tmp_path):
    """cost(words, path): exit status, megabytes at most, seconds of processor time. `out`: of commands that have one."""
    runner = subprocess.Popen([sys.executable, "-S", "-E", "-c", RUNNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              env=gpuimg.environment())

    def measure(words, path, out="out.png"):
        command = [gpuimg.path, *words, str(path)] + [str(tmp_path / out)] * (words[0] not in ("info", "hist"))
        runner.stdin.write(json.dumps(command) + "\n")
        runner.stdin.flush()
        status, kilobytes, seconds = runner.stdout.readline().split()
        return int(status), int(kilobytes) / 1024, float(seconds)

    yield measure
    runner.stdin.close()
    runner.wait()


def sound_png(width, height, colour=2, interlace=0):
    row = bytes(1 + width * {0: 1, 2: 3, 6: 4}[colour])
    rows = row * height
    if interlace:
        samples = np.zeros((height, width, {0: 1, 2: 3, 6: 4}[colour]), int)
        rows = b"".join(b"\0" + bytes(line) for x0, y0, dx, dy in make_corpus.ADAM7
                        for line in samples[y0::dy, x0::dx].reshape(len(samples[y0::dy]), -1).astype(np.uint8))
    return SIGNATURE + ihdr(width, height, 8, colour, interlace) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND")


def in_png(body_before=b"", idats=None, body_after=b"", size=(64, 64)):
    """A small sound image with something in it."""
    rows = bytes((1 + size[0]) * size[1])
    data = chunk(b"IDAT", zlib.compress(rows)) if idats is None else idats(rows)
    return SIGNATURE + ihdr(*size, 8, 0) + body_before + data + body_after + chunk(b"IEND")


def empty_blocks(rows, count, dynamic):
    """A stream that begins with blocks of no bytes: the header of each costs a decoder two tables."""
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    rest = packer.compress(rows) + packer.flush()
    if not dynamic:
        return b"\x78\x9c" + b"\0\0\0\xff\xff" * count + rest + struct.pack(">I", zlib.adler32(rows))
    bits = []

    def put(value, length):
        bits.extend(value >> i & 1 for i in range(length))

    # One literal that is never used and the end of block, of one bit each; one distance.
    put(0, 1), put(2, 2), put(0, 5), put(0, 5), put(14, 4)
    order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1]
    for symbol in order:
        put({18: 2, 1: 1, 0: 2}.get(symbol, 0), 3)
    one, many = (0, 1), (3, 2)  # codes of the lengths 1 and 18, zeros: the same from either end
    put(*one)
    for repeat in (138, 117):
        put(*many), put(repeat - 11, 7)
    put(*one), put(*one)
    put(1, 1)  # the end of the block
    packed = np.packbits(np.array(bits * 8, np.uint8), bitorder="little").tobytes()
    return b"\x78\x9c" + packed * (count // 8) + rest + struct.pack(">I", zlib.adler32(rows))


def png_costs():
    """(name, file, sound image of its size)"""
    small, n = in_png(), 1_000_000
    yield "idats-of-none", in_png(idats=lambda rows: chunk(b"IDAT") * n + chunk(b"IDAT", zlib.compress(rows))), small
    stream = zlib.compress(bytes(65 * 64 + 999))
    yield "idats-of-one", in_png(idats=lambda rows: b"".join(chunk(b"IDAT", bytes([byte])) for byte in stream)), small
    yield "chunks-of-none", in_png(chunk(b"teSt") * n), small
    yield "chunks-of-none-behind", in_png(body_after=chunk(b"teSt") * n), small
    yield "chunks-of-all-names", in_png(b"".join(chunk(bytes([97 + i % 26, 97 + i // 26 % 26, 65 + i // 676 % 26, 97]))
                                                  for i in range(26**3))), small
    yield "long-chunk", in_png(chunk(b"teSt", bytes(4_000_000))), small
    yield "stored-blocks-of-none", in_png(idats=lambda rows: chunk(b"IDAT", empty_blocks(rows, 600_000, False))), small
    yield "dynamic-blocks-of-none", in_png(idats=lambda rows: chunk(b"IDAT", empty_blocks(rows, 200_000, True))), small
    yield "stream-longer", in_png(idats=lambda rows: chunk(b"IDAT", zlib.compress(rows + bytes(300_000_000), 9))), small
    for name, keyword in (("zTXt", b"a\0\0"), ("iTXt", b"a\0\1\0\0\0"), ("iCCP", b"a\0\0"), ("xmp", b"XML:com.adobe.xmp\0\1\0\0\0")):
        kind = b"iTXt" if name == "xmp" else name.encode()
        yield f"bomb-{name}", in_png(chunk(kind, keyword + zlib.compress(bytes(300_000_000), 9))), small
    # An ICC profile that tells of 8 MB and has them.
    profile = struct.pack(">I", 8_000_000) + bytes(32) + b"acsp" + bytes(8_000_000 - 40)
    yield "profile-of-8-mb", in_png(chunk(b"iCCP", b"a\0\0" + zlib.compress(profile, 9))), small
    yield "exif-of-4-mb", in_png(chunk(b"eXIf", make_corpus.tiff(6, "MM", offset=3_900_000) + bytes(4_000_000))), small
    directory = make_corpus.tiff(1, "MM", tag=271, entries=65535)
    yield "exif-50-times", in_png(chunk(b"eXIf", directory + bytes(65000)) * 50), small
    for colour, interlace, size in ((2, 0, (20000, 20000)), (6, 1, (20000, 20000)), (0, 0, (30000, 30000)), (2, 0, (1_000_000, 900)),
                                    (0, 1, (1, 900_000_000)), (0, 0, (900_000_000, 1))):
        head = SIGNATURE + ihdr(*size, 8, colour, interlace)
        for much in (100, 100_000):
            data = chunk(b"IDAT", zlib.compress(bytes(much)))
            yield f"announced-{colour}-{interlace}-{size[0]}-{much}", head + data + chunk(b"IEND"), small
    # As much compressed data as makes the announced size possible: noise that cannot be inflated, and a cut stream.
    noise = np.random.default_rng(1).integers(0, 256, 400_000, np.uint8).tobytes()
    for interlace in (0, 1):
        size = 8000, 8000
        sound = sound_png(*size, 0, interlace)
        head = SIGNATURE + ihdr(*size, 8, 0, interlace)
        yield f"noise-{interlace}", head + chunk(b"IDAT", b"\x78\x9c\x05" + noise) + chunk(b"IEND"), sound
        yield f"cut-{interlace}", sound[: len(sound) * 9 // 10], sound
        yield f"zeros-behind-{interlace}", head + chunk(b"IDAT", b"\x78\x9c" + bytes(400_000)) + chunk(b"IEND"), sound
        yield f"half-{interlace}", head + chunk(b"IDAT", sound[41 : len(sound) * 9 // 10]) + chunk(b"IEND"), sound
        unknown = zlib.compress(bytes(32_000_000) + b"\x09" * 36_000_000, 1)  # a filter that is none
        yield f"half-filter-{interlace}", head + chunk(b"IDAT", unknown) + chunk(b"IEND"), sound


def sized(data, width, height):
    """The JPEG with another size in its frame header."""
    at = max(data.find(b"\xff\xc0"), data.find(b"\xff\xc2"))
    return data[: at + 5] + struct.pack(">HH", height, width) + data[at + 9 :]


def jpeg_costs():
    image = scene(64, 64)
    small = jpeg(image)
    base, fine = jpeg_oddities.split(small), jpeg_oddities.split(jpeg(image, progressive=True))

    def with_(body, parts=base, at=0):
        return jpeg_oddities.joined(parts[:at] + [(0, body)] + parts[at:])

    yield "app-65536", with_(segment(0xE5, b"") * 65536), small
    directory = make_corpus.tiff(6, "MM", tag=271, entries=65535)
    yield "exif-60-times", with_(segment(0xE1, b"Exif\0\0" + directory + bytes(60000)) * 60), small

    def part_of_profile(i, size):
        return segment(0xE2, b"ICC_PROFILE\0" + bytes([i % 255 + 1, 255]) + bytes(size))

    yield "icc-parts", with_(b"".join(part_of_profile(i, 9) for i in range(65536))), small
    guid = b"0123456789ABCDEF" * 2
    packet = segment(0xE1, b"http://ns.adobe.com/xap/1.0/\0xmpNote:HasExtendedXMP='" + guid + b"'" + bytes(60000))
    more = b"http://ns.adobe.com/xmp/extension/\0" + guid
    yield "xmp-parts-of-4-gb", with_(packet + segment(0xE1, more + struct.pack(">II", 0xFFFFFFFF, 0xFFFFFFF0)) * 65536), small
    whole = b"".join(segment(0xE1, more + struct.pack(">II", 65536, i) + b"x") for i in range(65536))
    yield "xmp-parts-of-a-byte", with_(packet + whole), small
    resources = segment(0xED, b"Photoshop 3.0\0" + b"8BIM\3\355\0\0\0\0\0\0" * 5000)
    yield "resources-of-none", with_(resources * 60), small
    rest = segment(0xED, b"Photoshop 3.0\0" + b"8BIM\4\4\0\0\0\x7f\xff\xff")
    yield "iptc-goes-on-by-a-byte", with_(rest + segment(0xED, b"Photoshop 3.0\0x") * 200_000), small
    yield "iptc-goes-on-past-8-mb", with_((rest + segment(0xED, b"Photoshop 3.0\0" + bytes(65_000)) * 125) * 3), small
    yield "icc-255-parts", with_(b"".join(part_of_profile(i, 65000) for i in range(255))), small
    yield "comments", with_(segment(0xFE, b"x") * 300_000), small
    yield "fill", with_(b"\xff" * 4_000_000), small
    yield "junk", with_(b"\0" * 4_000_000, at=1), small
    yield "stuffed", with_(b"\xff\0" * 2_000_000), small
    yield "tables", with_(base[[c for c, _ in base].index(0xC4)][1] * 40_000), small
    yield "quantization", with_(base[[c for c, _ in base].index(0xDB)][1] * 40_000), small
    yield "rst-outside", with_(b"\xff\xd0" * 1_000_000), small
    yield "dri", with_(segment(0xDD, b"\0\1") * 300_000), small
    scan = next(body for code, body in fine if code == 0xDA)
    for name, body in (("rst-inside", b"\xff\xd0" * 1_000_000), ("zeros-inside", bytes(4_000_000)), ("ones-inside", b"\xff\0" * 2_000_000),
                       ("fill-inside", b"\xff" * 4_000_000)):
        yield f"{name}", jpeg_oddities.joined([(c, b + body if c == 0xDA else b) for c, b in base]), small
        yield f"{name}-progressive", jpeg_oddities.joined([(c, b + body if b is scan else b) for c, b in fine]), small
    for size in ((30000, 30000), (65500, 15000), (15000, 65500)):
        yield f"announced-{size[0]}", sized(small, *size), small
        yield f"announced-progressive-{size[0]}", sized(jpeg(image, progressive=True), *size), small
    # As many bytes as make the size possible, and as many scans as are taken.
    size = 4000, 4000
    flat = make_corpus.Image.new("RGB", size, (90, 80, 70))
    sound, gradual = jpeg(flat), jpeg(flat, progressive=True)
    noise = np.random.default_rng(1).integers(0, 255, 100_000, np.uint8).tobytes()
    noisy = [(c, b + noise if c == 0xDA else b) for c, b in base]
    yield "noise", sized(jpeg_oddities.joined(noisy), *size), sound
    yield "noise-restarts", sized(jpeg_oddities.joined([(0xDD, segment(0xDD, b"\0\1"))] + noisy), *size), sound
    yield "noise-progressive", sized(jpeg_oddities.joined([(c, b + noise if b is scan else b) for c, b in fine]), *size), gradual
    refining = [(c, b) for c, b in fine if c == 0xDA][-1]
    yield "scans-100", sized(jpeg_oddities.joined([(c, b + noise[:9000] if c == 0xDA else b) for c, b in fine] +
                                                  [refining] * (100 - sum(c == 0xDA for c, _ in fine))), *size), gradual


@functools.cache
def costs_of(extension):
    return list({"png": png_costs, "jpg": jpeg_costs}[extension]())


@pytest.mark.parametrize("words", (("gray", "--device", "cpu"), ("gray", "--device", "cpu", "--codec", "stb"), ("info",)),
                         ids=("auto", "stb", "info"))
@pytest.mark.parametrize("extension", ("png", "jpg"))
def test_bounds(gpuimg, cost, tmp_path, extension, words):
    """Whatever comes of the file."""
    known, over = {}, []
    for name, data, sound in costs_of(extension):
        path, reference = tmp_path / f"{name}.{extension}", tmp_path / f"sound.{extension}"
        path.write_bytes(data)
        if sound not in known:
            reference.write_bytes(sound)
            known[sound] = cost(words, reference)
            assert known[sound][0] == 0
        _, most, seconds = known[sound]
        status, memory, time = cost(words, path)
        path.unlink()
        size = len(data) / MEGABYTE
        if os.environ.get("GPUIMG_TELL"):
            print(f"{name}: {status}, {size:.1f} MB, {memory:.0f} of {most:.0f} MB, {time:.2f} of {seconds:.2f} s")
        if status not in (0, 1) or (not gpuimg.sanitized and memory > most + (MEMORY + 2 * len(data)) / MEGABYTE):
            over.append(f"{name}: exit {status}, {memory:.0f} MB, but {most:.0f} of a sound image; the file has {size:.1f}")
        if time > TIMES * seconds + SECONDS:
            over.append(f"{name}: {time:.2f} s, but {seconds:.2f} of a sound image")
    assert not over, "\n".join(over)


LISTS = {"sound": "photos/summer/photo_{:08}.jpg", "short": "{:06}"}


@pytest.mark.parametrize("words", (("gray", "--device", "cpu"), ("hist",)), ids=("gray", "hist"))
@pytest.mark.parametrize("names", LISTS)
def test_lists_of_names(gpuimg, cost, tmp_path, names, words):
    """A list costs its names, those of the outputs, and some 160 bytes for each; ten times itself only where they are short.
    A report has a line for each file that is not there, which is held twice when it is put together."""
    few, count = 10, 60_000
    sizes, path = [], tmp_path / "list"
    for number in (few, count):
        path.write_text("".join(LISTS[names].format(i) + "\n" for i in range(number)))
        status, memory, _ = cost((*words, "-q", "--files-from"), path, "out")
        assert status == 1  # none of them is there
        sizes.append(memory * MEGABYTE)
    each, listed = (sizes[1] - sizes[0]) / count, path.stat().st_size / count
    line = listed + len("'': cannot open: No such file or directory\n")
    most = 160 + 2 * listed + (2 * line if words[0] == "hist" else len(str(tmp_path / "out")))
    if names == "sound":
        most = min(most, 10 * listed)
    assert gpuimg.sanitized or each < most, f"{each:.0f} bytes for a name of {listed:.0f}"
