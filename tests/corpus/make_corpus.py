#!/usr/bin/python3
"""Writes a folder of sound, damaged and hostile PNG and JPEG files, and manifest.json, which tells what each must do.

    make_corpus.py FOLDER

Entries of the manifest: "file"; "expect": "ok" (exit 0, also under --strict), "warn" (exit 0 with a warning, exit 1
under --strict) or "fail" (exit 1); "reason": words that the message must hold; for files that decode "reference": an
.npy of (height, width, channels) u8 pixels as they must come out, upright, and "tolerance": the greatest difference
allowed (JPEG decoders differ by rounding); "needs": "arithmetic" where a build without libjpeg-turbo refuses the file
with that word. PNG references are computed here from the samples that are stored; JPEG
references come from Pillow. The same versions of numpy, Pillow and OpenCV write the same bytes.
"""
import base64
import io
import json
import pathlib
import struct
import sys
import zlib

import cv2
import numpy as np
from PIL import Image, ImageOps

SIGNATURE = b"\x89PNG\r\n\x1a\n"
ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
SAMPLES = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


# 33x25 pixels of scene() in arithmetic coding, which Pillow reads and does not write: gray with restart markers, and RGB
# in scans.
ARITHMETIC_GRAY = """
/9j/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/yQALCAAZACEBAREA
/8wABgAQEAX/3QAEAAL/2gAIAQEAAD8A0dWF9UxyuRz/0NJV+2cditBA/9HRwTzCzTPeAdL/0tCvLGBXPTnQ/9OtBCQ/63vIYP/U/u326Gd5tFj/
1f2+lkclby2g/9b/AEnm8Kew/9f+dZRqgP/Q/uZi5cD/2Q=="""
ARITHMETIC_SCANS = """
/9j/2wBDABALDA4MChAODQ4SERATGCgaGBYWGDEjJR0oOjM9PDkzODdASFxOQERXRTc4UG1RV19iZ2hnPk1xeXBkeFxlZ2P/2wBDARESEhgVGC8a
Gi9jQjhCY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2P/ygARCAAZACEDASIAAhEBAxEB/8wABgAQARD/
2gAMAwEAAhADEAAAAdC6v9vVUqNZ+WxSjOUsTgb7M6XAbOftRtWhdYnVGpT/zAAEEAX/2gAIAQEAAQUCDtDs201XpGap9uzA/8wABBEF/9oACAED
AQE/ARgOo1mHIAT/zAAEEQX/2gAIAQIBAT8BEhWUBftfKDP/zAAEEAX/2gAIAQEABj8CsP/MAAQQBf/aAAgBAQABPyHPiF9aQOFE/9oADAMBAAIA
AwAAABBPDDV58P/MAAQRBf/aAAgBAwEBPxA3wC49cGD/zAAEEQX/2gAIAQIBAT8Qa7ORQP/MAAQQBf/aAAgBAQABPxBGxuh9aGmg8RUAF24LOOC0
LP/Z"""


class Corpus:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.entries = []

    def add(self, name, data, expect, reason="", pixels=None, tolerance=0, needs=None, deep=None):
        (self.folder / name).write_bytes(data)
        entry = {"file": name, "expect": expect, "reason": reason}
        if needs:
            entry["needs"] = needs
        if pixels is not None:
            if pixels.ndim == 2:
                pixels = pixels[..., None]
            entry["reference"] = name + ".npy"
            entry["tolerance"] = tolerance
            np.save(self.folder / entry["reference"], pixels.astype(np.uint8))
        if deep is not None:
            entry["reference16"] = name + ".16.npy"
            np.save(self.folder / entry["reference16"], deep.astype(np.uint16))
        self.entries.append(entry)

    def finish(self):
        (self.folder / "manifest.json").write_text(json.dumps(self.entries, indent=1) + "\n")


# ---- PNG by hand ------------------------------------------------------------------------------------------------


def chunk(name, body=b""):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def ihdr(width, height, depth, colour, interlace=0):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace))


def pack_rows(samples, depth):
    """(height, width, n) samples to a list of packed rows."""
    height = samples.shape[0]
    flat = samples.reshape(height, -1)
    if depth == 16:
        return [row.astype(">u2").tobytes() for row in flat]
    if depth == 8:
        return [row.astype(np.uint8).tobytes() for row in flat]
    bits = (flat[..., None] >> np.arange(depth - 1, -1, -1)) & 1
    return [np.packbits(row.reshape(-1).astype(np.uint8)).tobytes() for row in bits]


def filter_rows(rows, pixel, rng):
    """Filters each row by a random filter, straight from the specification."""
    out = bytearray()
    above = bytes(len(rows[0]))
    for row in rows:
        kind = int(rng.integers(5))
        cur = np.frombuffer(row, np.uint8).astype(int)
        up = np.frombuffer(above, np.uint8).astype(int)
        left = np.concatenate([np.zeros(pixel, int), cur])[: len(cur)]
        corner = np.concatenate([np.zeros(pixel, int), up])[: len(cur)]
        p = left + up - corner
        pa, pb, pc = abs(p - left), abs(p - up), abs(p - corner)
        paeth = np.where((pa <= pb) & (pa <= pc), left, np.where(pb <= pc, up, corner))
        predicted = [0 * cur, left, up, (left + up) // 2, paeth][kind]
        out.append(kind)
        out += ((cur - predicted) & 255).astype(np.uint8).tobytes()
        above = row
    return bytes(out)


def filtered(samples, depth, interlace, rng):
    pixel = max(1, samples.shape[2] * depth // 8)
    passes = [samples[y0::dy, x0::dx] for x0, y0, dx, dy in ADAM7] if interlace else [samples]
    return b"".join(filter_rows(pack_rows(p, depth), pixel, rng) for p in passes if p.size)


def png(head, data, before=b"", after=b"", idat=None):
    chunks = chunk(b"IDAT", zlib.compress(data) if idat is None else idat)
    return SIGNATURE + head + before + chunks + after + chunk(b"IEND")


def png_pixels(samples, depth, colour, palette=None, trns=None, most=255):
    """The 8-bit pixels, or those up to `most`, that stored samples mean."""
    top = 2**depth - 1
    if colour == 3:
        table = np.zeros((256, 4), int)
        table[:, 3] = 255
        table[: len(palette), :3] = palette
        if trns is not None:
            table[: len(trns), 3] = trns
        return table[samples[..., 0]][..., : 4 if trns is not None else 3]
    scaled = (2 * samples.astype(np.int64) * most + top) // (2 * top)
    if trns is None:
        return scaled
    alpha = np.where((samples == np.array(trns)).all(-1), 0, most)
    return np.concatenate([scaled, alpha[..., None]], -1)


def sound_png(corpus, rng):
    for colour in SAMPLES:
        for depth in (1, 2, 4, 8, 16):
            if (depth < 8 and colour not in (0, 3)) or (depth == 16 and colour == 3):
                continue
            for interlace in (0, 1):
                for keyed in (False, True) if colour in (0, 2, 3) else (False,):
                    for width, height in ((17, 31), (1, 1)):
                        one_png(corpus, rng, (colour, depth, interlace, keyed, width, height))


def one_png(corpus, rng, kind):
    colour, depth, interlace, keyed, width, height = kind
    n = SAMPLES[colour]
    high = min(2**depth, 11) if colour == 3 else 2**depth
    samples = rng.integers(0, high, (height, width, n))
    samples[height // 2 :, : width // 2 + 1] = samples[0, 0]  # so that the colour key is met
    palette = rng.integers(0, 256, (high, 3)) if colour == 3 else None
    trns, before = None, b""
    if colour == 3:
        before = chunk(b"PLTE", palette.astype(np.uint8).tobytes())
        if keyed:
            trns = rng.integers(0, 256, max(1, high - 2))
            before += chunk(b"tRNS", trns.astype(np.uint8).tobytes())
    elif keyed:
        trns = samples[0, 0]
        before = chunk(b"tRNS", trns.astype(">u2").tobytes())
    data = png(ihdr(width, height, depth, colour, interlace), filtered(samples, depth, interlace, rng), before)
    name = "png-colour%d-%dbit%s%s-%dx%d.png" % (
        colour, depth, "-interlaced" if interlace else "", "-trns" if keyed else "", width, height)
    deep = png_pixels(samples, depth, colour, trns=trns, most=65535) if depth == 16 else None
    corpus.add(name, data, "ok", pixels=png_pixels(samples, depth, colour, palette, trns), deep=deep)


def gray_png(rng, width=40, height=30):
    """Parts of a small sound file, to be damaged: header, filtered rows, pixels."""
    samples = rng.integers(0, 256, (height, width, 1))
    return ihdr(width, height, 8, 0), filtered(samples, 8, 0, rng), samples


def odd_png(corpus, rng):
    head, rows, pixels = gray_png(rng)
    stream = zlib.compress(rows)
    pieces = b"".join(chunk(b"IDAT", stream[i : i + 7]) for i in range(0, len(stream), 7))
    whole = SIGNATURE + head + pieces + chunk(b"IEND")
    corpus.add("png-many-idat.png", whole, "ok", pixels=pixels)
    corpus.add("png-trailing-bytes.png", png(head, rows) + b"trailing", "ok", pixels=pixels)
    corpus.add("png-ancillary-chunks.png",
               png(head, rows, chunk(b"gAMA", b"\0\0\xb1\x8f") + chunk(b"teSt", b"x" * 99), chunk(b"tEXt", b"a\0b")),
               "ok", pixels=pixels)
    corpus.add("png-more-data-than-needed.png", png(head, rows + bytes(5000)), "ok", pixels=pixels)
    corpus.add("png-data-bomb.png", png(head, rows + bytes(50_000_000)), "ok", pixels=pixels)
    corpus.add("png-behind-stream.png", png(head, b"", idat=stream + b"junk"), "ok", pixels=pixels)
    samples = rng.integers(0, 8, (9, 9, 1))
    palette = rng.integers(0, 256, (5, 3))
    plte = chunk(b"PLTE", palette.astype(np.uint8).tobytes())
    for name, before, trns in (("", b"", None), ("-trns", chunk(b"tRNS", bytes([0, 9, 200])), [0, 9, 200])):
        for interlace in (0, 1):
            data = png(ihdr(9, 9, 4, 3, interlace), filtered(samples, 4, interlace, rng), plte + before)
            corpus.add("png-index-past-plte%s-%d.png" % (name, interlace), data, "warn", "palette index",
                       png_pixels(samples, 4, 3, palette, trns))
    for orientation in range(1, 9):
        data = png(head, rows, chunk(b"eXIf", tiff(orientation, "MM")))
        corpus.add("png-exif%d.png" % orientation, data, "ok", pixels=upright(pixels, orientation))


def damaged_png(corpus, rng):
    head, rows, _ = gray_png(rng)
    stream = zlib.compress(rows)
    parts = [("signature", SIGNATURE), ("ihdr", head), ("gama", chunk(b"gAMA", b"\0\0\xb1\x8f")),
             ("idat1", chunk(b"IDAT", stream[:100])), ("idat2", chunk(b"IDAT", stream[100:])), ("iend", chunk(b"IEND"))]
    done = b""
    for name, part in parts[:-1]:
        done += part
        corpus.add("cut-after-%s.png" % name, done, "fail", "PNG")
    done = b""
    for name, part in parts:
        if done:
            corpus.add("cut-within-%s.png" % name, done + part[: len(part) // 2], "fail", "damaged PNG")
        done += part
    for i, (name, part) in enumerate(parts[1:], 1):
        broken = [p for _, p in parts]
        broken[i] = part[:-1] + bytes([part[-1] ^ 0x40])
        corpus.add("bad-crc-%s.png" % name, b"".join(broken), "fail", "CRC")

    def bad(name, reason, *args, **kwargs):
        corpus.add("bad-%s.png" % name, png(*args, **kwargs), "fail", reason)

    bad("zero-width", "width or height is 0", ihdr(0, 5, 8, 0), rows)
    bad("zero-height", "width or height is 0", ihdr(5, 0, 8, 0), rows)
    bad("negative-width", "2^31", ihdr(0x80000001, 5, 8, 0), rows)
    bad("colour-type", "colour type 5", ihdr(40, 30, 8, 5), rows)
    bad("depth", "3 bits", ihdr(40, 30, 3, 0), rows)
    bad("palette-depth", "16 bits", ihdr(40, 30, 16, 3), rows)
    bad("interlace", "interlace", ihdr(40, 30, 8, 0, 2), rows)
    bad("no-plte", "PLTE", ihdr(40, 30, 8, 3), rows)
    bad("plte-length", "PLTE", ihdr(40, 30, 8, 3), rows, chunk(b"PLTE", bytes(7)))
    bad("plte-empty", "PLTE", ihdr(40, 30, 8, 3), rows, chunk(b"PLTE"))
    bad("trns-length", "tRNS", ihdr(40, 30, 8, 3), rows, chunk(b"PLTE", bytes(6)) + chunk(b"tRNS", bytes(3)))
    bad("critical-chunk", "critical", head, rows, chunk(b"CgBI", bytes(4)))
    bad("idat-split", "consecutive", head, rows, b"", chunk(b"teSt") + chunk(b"IDAT", b"x"))
    bad("second-ihdr", "IHDR", head, rows, head)
    bad("filter", "filter 7", ihdr(4, 1, 8, 0), b"\x07abcd")
    bad("data-short", "ends early", head, rows[:-1])
    bad("data-none", "ends early", head, b"")
    bad("stream-cut", "ends early", head, b"", idat=stream[:-40])
    bad("no-adler", "ends early", head, b"", idat=stream[:-4])
    bad("adler", "Adler", head, b"", idat=stream[:-1] + bytes([stream[-1] ^ 1]))
    bad("block-type", "corrupt", head, b"", idat=b"\x78\x9c\x07" + bytes(60))
    bad("zlib-header", "corrupt", head, b"", idat=b"\x79" + stream[1:])
    bad("zlib-empty", "ends early", head, b"", idat=b"")
    no_idat = SIGNATURE + head + chunk(b"IEND")
    corpus.add("bad-no-idat.png", no_idat, "fail", "IDAT")
    length = bytearray(png(head, rows))
    length[33:37] = b"\xff\xff\xff\xf0"
    corpus.add("bad-length.png", bytes(length), "fail", "IDAT")
    corpus.add("bomb-60000.png", png(ihdr(60000, 60000, 8, 2), bytes(1000)), "fail", "60000x60000")
    corpus.add("bomb-30000.png", png(ihdr(30000, 30000, 8, 0), bytes(1000)), "fail", "30000x30000")
    corpus.add("bomb-max.png", png(ihdr(2**31 - 1, 2**31 - 1, 16, 6, 1), bytes(1000)), "fail", "limit")


# ---- JPEG -------------------------------------------------------------------------------------------------------


def tiff(value, order, tag=274, kind=3, count=1, offset=8, entries=1):
    mark = ">" if order == "MM" else "<"
    return order.encode() + struct.pack(mark + "HIHHHIHHI", 42, offset, entries, tag, kind, count, value, 0, 0)


def upright(pixels, orientation):
    """By the words of the EXIF standard: which sides the stored first row and first column are."""
    if orientation >= 5:
        pixels = pixels.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    return pixels


def segment(code, body):
    return bytes([0xFF, code]) + struct.pack(">H", len(body) + 2) + body


def jpeg(image, **options):
    file = io.BytesIO()
    image.save(file, "JPEG", **options)
    return file.getvalue()


def jpeg_with_restarts(image, interval, progressive=False):
    options = [cv2.IMWRITE_JPEG_QUALITY, 90, cv2.IMWRITE_JPEG_RST_INTERVAL, interval]
    options += [cv2.IMWRITE_JPEG_PROGRESSIVE, int(progressive)]
    data = cv2.imencode(".jpg", np.array(image)[..., ::-1], options)[1].tobytes()
    assert b"\xff\xd0" in data
    return data


def pixels_of(data, mode=None):
    image = Image.open(io.BytesIO(data))
    return np.array(image.convert(mode) if mode else image)


def scene(width=65, height=49):
    y, x = np.mgrid[0:height, 0:width]
    colours = np.stack([128 + 100 * np.sin(x / 9), 128 + 100 * np.cos(y / 7), (x + y) * 255 / (width + height)], -1)
    return Image.fromarray(colours.astype(np.uint8))


def sound_jpeg(corpus):
    image = scene()
    for subsampling in (0, 1, 2):
        for progressive in (False, True):
            data = jpeg(image, quality=90, subsampling=subsampling, progressive=progressive)
            name = "jpeg-%s%s.jpg" % (("444", "422", "420")[subsampling], "-progressive" * progressive)
            corpus.add(name, data, "ok", pixels=pixels_of(data), tolerance=6)
    for progressive in (False, True):
        data = jpeg_with_restarts(image, 3, progressive)
        corpus.add("jpeg-restart%s.jpg" % ("-progressive" * progressive), data, "ok", pixels=pixels_of(data),
                   tolerance=6)
        data = jpeg(image.convert("L"), quality=90, progressive=progressive)
        corpus.add("jpeg-gray%s.jpg" % ("-progressive" * progressive), data, "ok", pixels=pixels_of(data), tolerance=2)
    for width, height in ((1, 1), (15, 1), (1, 15), (16, 16), (17, 31)):
        data = jpeg(scene(width, height), quality=90)
        # libjpeg does not interpolate chroma of so few columns.
        corpus.add("jpeg-%dx%d.jpg" % (width, height), data, "ok", pixels=pixels_of(data), tolerance=16)
    data = jpeg(image, quality=90, subsampling=0)
    corpus.add("jpeg-trailing-bytes.jpg", data + b"trailing", "ok", pixels=pixels_of(data), tolerance=3)
    corpus.add("jpeg-named.png", data, "ok", pixels=pixels_of(data), tolerance=3)
    rgb = b"\xff\xd8" + segment(0xEE, b"Adobe\0\x64\0\0\0\0\0") + data[20:]
    corpus.add("jpeg-rgb.jpg", rgb, "ok", pixels=pixels_of(rgb), tolerance=3)
    cmyk = jpeg(image.convert("CMYK"), quality=90)
    place = cmyk.index(b"Adobe")
    ycck = cmyk[: place + 11] + b"\x02" + cmyk[place + 12 :]
    corpus.add("jpeg-cmyk.jpg", cmyk, "ok", pixels=pixels_of(cmyk, "RGB"), tolerance=4)
    corpus.add("jpeg-ycck.jpg", ycck, "ok", pixels=pixels_of(ycck, "RGB"), tolerance=4)
    for name, text in (("gray", ARITHMETIC_GRAY), ("scans", ARITHMETIC_SCANS)):
        data = base64.b64decode(text)
        corpus.add("jpeg-arithmetic-%s.jpg" % name, data, "ok", pixels=pixels_of(data), tolerance=1, needs="arithmetic")
    corpus.add("jpeg-cmyk-no-adobe.jpg", cmyk[: place - 4] + cmyk[place + 12 :], "fail", "CMYK")


def exif_jpeg(corpus):
    data = jpeg(scene(), quality=90, subsampling=0)
    pixels = pixels_of(data)

    def add(name, block, orientation=1):
        tagged = data[:20] + segment(0xE1, b"Exif\0\0" + block) + data[20:]
        if orientation != 1:  # Pillow agrees with the standard's words
            turned = np.array(ImageOps.exif_transpose(Image.open(io.BytesIO(tagged))))
            assert (turned == upright(pixels, orientation)).all()
        corpus.add("exif-%s.jpg" % name, tagged, "ok", pixels=upright(pixels, orientation), tolerance=3)

    for order in ("II", "MM"):
        for value in range(1, 9):
            add("%s-%d" % (order, value), tiff(value, order), value)
        for value in (0, 9, 65535):
            add("%s-%d" % (order, value), tiff(value, order))
        add("%s-far" % order, tiff(6, order, offset=0xFFFFFFF0))
        add("%s-end" % order, tiff(6, order, offset=26))
        add("%s-many" % order, tiff(6, order, tag=271, entries=65535))
        add("%s-long" % order, tiff(6, order, kind=4))
        add("%s-count" % order, tiff(6, order, count=0xFFFFFFFF))
        add("%s-cut" % order, tiff(6, order)[:15])
        add("%s-loop" % order, tiff(6, order, tag=271)[:22] + struct.pack(">I" if order == "MM" else "<I", 8))
    add("empty", b"")
    add("text", b"XX" + tiff(6, "MM")[2:])


def damaged_jpeg(corpus):
    image = scene(160, 120)
    restart = jpeg_with_restarts(image, 4)
    for name, data in (("baseline", jpeg(image, quality=90)), ("restart", restart),
                       ("progressive", jpeg(image, quality=90, progressive=True))):
        for percent in (60, 90):
            corpus.add("cut-%d-%s.jpg" % (percent, name), data[: len(data) * percent // 100], "warn", "cut short")
        corpus.add("cut-eoi-%s.jpg" % name, data[:-2], "warn", "cut short")
    data = jpeg(image, quality=90)
    start = data.index(b"\xff\xda")
    corpus.add("cut-60-with-eoi.jpg", data[: len(data) * 6 // 10] + b"\xff\xd9", "warn", "ends early")
    corpus.add("junk-behind-scan.jpg", data[:-2] + b"some junk" + data[-2:], "warn", "not used")
    corpus.add("zeros-behind-scan.jpg", data[:-2] + bytes(40) + data[-2:], "ok", pixels=pixels_of(data), tolerance=6)
    half = start + (len(data) - start) // 2
    corpus.add("junk-in-scan.jpg", data[:half] + data[half + 200 :], "warn", "damaged JPEG")
    corpus.add("junk-marker-in-scan.jpg", data[:half] + b"\xff\x37\x12\x34" + data[half:], "warn", "damaged JPEG")
    corpus.add("junk-before-scan.jpg", data[:20] + b"junk" + data[20:], "warn", "between the segments")
    corpus.add("restart-order.jpg", restart.replace(b"\xff\xd2", b"\xff\xd5", 1), "warn", "restart")
    position = 0
    at = 2
    while data[at + 1] != 0xDA:  # a cut in front of any scan leaves no image
        corpus.add("cut-before-%d-%02x.jpg" % (position, data[at + 1]), data[:at], "fail", "JPEG")
        corpus.add("cut-within-%d-%02x.jpg" % (position, data[at + 1]), data[: at + 7], "fail", "JPEG")
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
        position += 1


def hostile_jpeg(corpus):
    quantization = segment(0xDB, b"\0" + bytes([1] * 64))
    one_code = bytes([1] + [0] * 15)

    def huffman(kind, counts=one_code, symbols=b"\0"):
        return segment(0xC4, bytes([kind]) + counts + symbols)

    tables = quantization + huffman(0x00) + huffman(0x10)

    def frame(code=0xC0, width=16, height=16, components=((1, 0x11, 0),), precision=8):
        body = struct.pack(">BHHB", precision, height, width, len(components))
        return segment(code, body + b"".join(bytes(c) for c in components))

    def scan(ids=(1,), selectors=0, bands=(0, 63, 0), data=bytes(4)):
        body = bytes([len(ids)]) + b"".join(bytes([i, selectors]) for i in ids) + bytes(bands)
        return segment(0xDA, body) + data

    def add(name, reason, *parts, expect="fail"):
        corpus.add("hostile-%s.jpg" % name, b"\xff\xd8" + b"".join(parts) + b"\xff\xd9", expect, reason)

    gray = np.full((16, 16), 128)
    corpus.add("hand-made-gray.jpg", b"\xff\xd8" + tables + frame() + scan(data=b"\0") + b"\xff\xd9", "ok",
               pixels=gray)
    add("dht-4080-codes", "Huffman", quantization, huffman(0x10, bytes([255] * 16), bytes(4080)), frame(), scan())
    add("dht-257-codes", "256", quantization, huffman(0x10, bytes([0] * 14 + [2, 255]), bytes(257)), frame(), scan())
    add("dht-over-subscribed", "Huffman", quantization, huffman(0x10, bytes([3] + [0] * 15), bytes(3)), frame(), scan())
    add("dht-dc-symbol", "DC", quantization, huffman(0x00, one_code, b"\x10"), frame(), scan())
    add("dht-cut", "cut short", quantization, segment(0xC4, b"\0\1"), frame(), scan())
    add("dht-missing", "not defined", quantization, frame(), scan())
    add("dqt-missing", "not defined", huffman(0), huffman(0x10), frame(), scan())
    add("dqt-cut", "cut short", segment(0xDB, bytes(64)), frame(), scan())
    add("sos-component", "component", tables, frame(), scan(ids=(2,)))
    add("sos-twice", "number of components", tables, frame(), scan(ids=(1, 1)))
    add("sos-table", "table", tables, frame(), scan(selectors=0x55))
    add("sos-before-sof", "frame", tables, scan(), frame())
    add("progressive-bands", "spectral", tables, frame(0xC2), scan(bands=(60, 70, 0)))
    add("progressive-merged", "DC and AC", tables, frame(0xC2), scan(bands=(0, 63, 0)))
    add("progressive-shift", "approximation", tables, frame(0xC2), scan(bands=(1, 63, 0x0E)))
    add("progressive-refine", "approximation", tables, frame(0xC2), scan(bands=(1, 63, 0xF0)))
    add("progressive-scans", "scans", tables, frame(0xC2), scan(bands=(0, 0, 0)) * 5000)
    mcu = ((1, 0x44, 0), (2, 0x11, 0), (3, 0x11, 0))  # 18 blocks: more than the standard allows
    corpus.add("hand-made-18-blocks.jpg", b"\xff\xd8" + tables + frame(width=32, height=32, components=mcu) +
               scan(ids=(1, 2, 3), data=bytes(5)) + b"\xff\xd9", "ok", pixels=np.full((32, 32, 3), 128), tolerance=1)
    ones = quantization + huffman(0x00, bytes([2] + [0] * 15), b"\0\1") + huffman(0x10)
    corpus.add("hand-made-code-of-ones.jpg", b"\xff\xd8" + ones + frame() + scan(data=b"\0") + b"\xff\xd9", "ok",
               pixels=gray)
    add("sof-sampling", "sampling", tables, frame(components=((1, 0x51, 0),)), scan())
    add("sof-components", "components", tables, frame(components=((1, 0x11, 0),) * 7), scan())
    add("sof-two", "second frame", tables, frame(), frame(width=64), scan())
    add("sof-zero-width", "width is 0", tables, frame(width=0), scan())
    add("sof-zero-height", "height is 0", tables, frame(height=0), scan())
    add("sof-table", "quantization", tables, frame(components=((1, 0x11, 9),)), scan())
    add("12-bit", "12-bit", tables, frame(0xC1, precision=12), scan())
    add("arithmetic", "arithmetic", tables, segment(0xCC, b"\0\1"), frame(0xC9), scan())
    add("arithmetic-lossless", "is not supported", tables, frame(0xCB), scan())
    add("arithmetic-hierarchical", "is not supported", tables, frame(0xCD), scan())
    add("lossless", "lossless", tables, frame(0xC3), scan())
    add("hierarchical", "hierarchical", tables, frame(0xC5), scan())
    add("bomb-60000", "60000x60000", tables, frame(width=60000, height=60000), scan())
    add("bomb-30000", "30000x30000", tables, frame(width=30000, height=30000), scan())
    add("bomb-progressive", "30000x30000", tables, frame(0xC2, width=30000, height=30000), scan(bands=(0, 0, 0)))
    wide = quantization + huffman(0x00, one_code, b"\x0f") + huffman(0x10)
    add("restart-amid-number", "damaged JPEG", wide, segment(0xDD, b"\0\2"), frame(width=64, height=8),
        scan(data=b"\0\xff\xd0\0\xff\xd1\0\xff\xd2\0"), expect="warn")
    add("dc-sum", "damaged JPEG", wide, frame(width=2048, height=2048), scan(data=b"\x7f\xfe" * 5000), expect="warn")


def no_image(corpus):
    corpus.add("zero-bytes.png", b"", "fail", "empty")
    corpus.add("no-bytes.jpg", b"", "fail", "empty")
    corpus.add("text.png", b"This is no image.\n", "fail", "neither PNG nor JPEG")
    corpus.add("zeros.jpg", bytes(5000), "fail", "neither PNG nor JPEG")
    corpus.add("gif.png", b"GIF89a\1\0\1\0\0\0\0;", "fail", "neither PNG nor JPEG")
    corpus.add("signature-only.png", SIGNATURE, "fail", "PNG")
    corpus.add("signature-and-junk.png", SIGNATURE + b"junk" * 100, "fail", "PNG")
    corpus.add("soi-only.jpg", b"\xff\xd8\xff", "fail", "JPEG")
    corpus.add("line-ends.png", b"\x89PNG\n\x1a\n" + bytes(50), "fail", "neither PNG nor JPEG")


def metadata(corpus):
    """Hostile and odd metadata beside sound pixels."""
    rng = np.random.default_rng(9)
    head, rows, pixels = gray_png(rng)
    profile = struct.pack(">I4sI4s4s", 200, b"test", 0x02100000, b"mntr", b"GRAY").ljust(36, b"\0")
    profile = (profile + b"acsp").ljust(200, b"\0")
    xmp = b"XML:com.adobe.xmp\0"
    bomb = zlib.compress(struct.pack(">I", 2**30) + profile[4:] + bytes(20_000_000), 9)
    for name, *chunks in (
        ("profile", (b"iCCP", b"x\0\0" + zlib.compress(profile))),
        ("profile-cut", (b"iCCP", b"x\0\0" + zlib.compress(profile)[:-9])),
        ("profile-no-name", (b"iCCP", b"x" * 80)),
        ("profile-method", (b"iCCP", b"x\0\1" + zlib.compress(profile))),
        ("profile-bomb", (b"iCCP", b"x\0\0" + bomb)),
        ("profile-twice", (b"iCCP", b"x\0\0" + zlib.compress(profile)), (b"iCCP", b"")),
        ("xmp", (b"iTXt", xmp + b"\0\0\0\0<x/>")),
        ("xmp-packed", (b"iTXt", xmp + b"\1\0\0\0" + zlib.compress(b"<x/>" * 9999))),
        ("xmp-bomb", (b"iTXt", xmp + b"\1\0\0\0" + zlib.compress(bytes(20_000_000), 9))),
        ("xmp-cut", (b"iTXt", xmp)),
        ("sizes", *((n, bytes(s)) for n in (b"gAMA", b"cHRM", b"sRGB", b"cICP", b"pHYs") for s in (0, 3, 40))),
        ("exif-twice", (b"eXIf", tiff(1, "II")), (b"eXIf", tiff(6, "MM"))),
    ):
        data = png(head, rows, b"".join(chunk(*c) for c in chunks))
        corpus.add("png-meta-%s.png" % name, data, "ok", pixels=pixels)
    data = jpeg(scene(), quality=90, subsampling=0)
    part = b"ICC_PROFILE\0"
    for name, *parts in (
        ("profile", b"\1\1" + profile), ("parts", b"\2\2" + profile[90:], b"\1\2" + profile[:90]),
        ("part-missing", b"\1\2" + profile), ("part-0", b"\0\1" + profile), ("part-twice", *[b"\1\1" + profile] * 2),
        ("totals-differ", b"\1\2" + profile[:90], b"\2\3" + profile[90:]), ("no-parts", b"\0\0"), ("cut", b""),
        ("all-parts", *[bytes([i, 255]) for i in range(1, 256)]),
    ):  # fmt: skip
        tagged = data[:20] + b"".join(segment(0xE2, part + p) for p in parts) + data[20:]
        corpus.add("jpeg-meta-%s.jpg" % name, tagged, "ok", pixels=pixels_of(data), tolerance=3)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    corpus, rng = Corpus(sys.argv[1]), np.random.default_rng(20240601)
    sound_png(corpus, rng)
    odd_png(corpus, rng)
    damaged_png(corpus, rng)
    sound_jpeg(corpus)
    exif_jpeg(corpus)
    damaged_jpeg(corpus)
    hostile_jpeg(corpus)
    metadata(corpus)
    no_image(corpus)
    corpus.finish()


if __name__ == "__main__":
    main()
