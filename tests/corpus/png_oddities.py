"""PNG files that are odd in one thing each: chunks of all kinds, places, lengths and contents, and streams cut up.

oddities() gives (name, file, pixels) of each; pixels are None where there may be none. Nothing here says what a reader
has to make of them: the tests that use them do.
"""
import struct
import zlib

import numpy as np

from make_corpus import SIGNATURE, chunk, filtered, ihdr, png_pixels, tiff, upright

WIDTH, HEIGHT = 13, 9
# Those that the specification defines, or registers, of one lengths and contents that are right.
ANCILLARY = {
    b"bKGD": b"\0\7", b"cHRM": struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000),
    b"cICP": b"\1\r\0\1", b"cLLI": struct.pack(">II", 10000000, 4000000), b"eXIf": tiff(1, "MM"), b"gAMA": b"\0\0\xb1\x8f",
    b"gIFg": b"\0\0\0\0", b"gIFt": b"\0" * 24, b"gIFx": b"NETSCAPE2.0\0", b"hIST": b"\0\1" * 4, b"iCCP": b"x\0\0junk",
    b"iTXt": b"a\0\0\0\0\0b", b"mDCV": bytes(24), b"oFFs": struct.pack(">IIB", 5, 7, 0),
    b"pCAL": b"x\0" + struct.pack(">iiBB", 0, 9, 0, 2) + b"m\x001\x002", b"pHYs": struct.pack(">IIB", 2835, 2835, 1),
    b"sBIT": b"\5", b"sCAL": b"\1" + b"1\x002", b"sPLT": b"x\0\x08" + bytes(6), b"sRGB": b"\0", b"sTER": b"\0",
    b"tEXt": b"a\0b", b"tIME": b"\7\xd0\1\1\0\0\0", b"tRNS": b"\0\7", b"zTXt": b"a\0\0" + zlib.compress(b"text"),
    b"acTL": struct.pack(">II", 2, 0), b"fcTL": struct.pack(">IIIIIHHBB", 0, WIDTH, HEIGHT, 0, 0, 1, 10, 0, 0),
    b"fdAT": struct.pack(">I", 1) + zlib.compress(bytes(HEIGHT * (WIDTH + 1))), b"dSIG": b"\0", b"teSt": b"private",
    b"tesT": b"", b"caBX": b"\0\0\0\x08jumb", b"vpAg": bytes(9),
}


class Parts:
    """A small sound image of a colour type and depth, in pieces."""

    def __init__(self, colour, depth, interlace=0, colours=4):
        rng = np.random.default_rng([colour, depth, interlace])
        colours = min(colours, 2**depth)
        samples = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
        high = colours if colour == 3 else 2**depth
        self.colour, self.depth = colour, depth
        self.samples = rng.integers(0, high, (HEIGHT, WIDTH, samples))
        self.head = ihdr(WIDTH, HEIGHT, depth, colour, interlace)
        self.rows = filtered(self.samples, depth, interlace, rng)
        self.stream = zlib.compress(self.rows)
        self.palette = rng.integers(0, 256, (colours, 3))
        self.plte = chunk(b"PLTE", self.palette.astype(np.uint8).tobytes()) if colour == 3 else b""

    def pixels(self, trns=None):
        most = 65535 if self.depth == 16 else 255
        if trns is not None and self.colour != 3:
            trns = [value & 2**self.depth - 1 for value in trns]  # of two bytes, the low bits count
        return png_pixels(self.samples, self.depth, self.colour, self.palette, trns, most)

    def file(self, before=b"", between=b"", after=b"", behind=b"", data=None):
        """`before` PLTE, `between` it and the data, `after` that, and `behind` IEND."""
        data = chunk(b"IDAT", self.stream) if data is None else data
        return b"".join((SIGNATURE, self.head, before, self.plte, between, data, after, chunk(b"IEND"), behind))


def damaged_crc(data):
    return data[:-1] + bytes([data[-1] ^ 1])


def idats(pieces):
    return b"".join(chunk(b"IDAT", piece) for piece in pieces)


def split_streams():
    gray, deep = Parts(0, 8), Parts(6, 16, 1)
    for name, p in (("gray", gray), ("deep", deep)):
        s, want = p.stream, p.pixels()
        yield f"idat-bytes-{name}", p.file(data=idats(s[i : i + 1] for i in range(len(s)))), want
        yield f"idat-empty-first-{name}", p.file(data=idats([b"", s])), want
        yield f"idat-empty-last-{name}", p.file(data=idats([s, b""])), want
        yield f"idat-empty-amid-{name}", p.file(data=idats([s[:1], b"", b"", s[1:9], b"", s[9:]])), want
        yield f"idat-empty-500-{name}", p.file(data=idats([b""] * 500 + [s])), want
        yield f"idat-checksum-apart-{name}", p.file(data=idats([s[:-4], s[-4:-2], s[-2:]])), want
    rows, want = gray.rows, gray.pixels()
    for level in range(10):
        yield f"level-{level}", gray.file(data=idats([zlib.compress(rows, level)])), want
    for bits in range(9, 16):
        for strategy in range(5):
            packer = zlib.compressobj(6, zlib.DEFLATED, bits, 9, strategy)
            stream = packer.compress(rows) + packer.flush()
            yield f"window-{bits}-strategy-{strategy}", gray.file(data=idats([stream])), want
    packer = zlib.compressobj(6)
    flushed = b"".join(packer.compress(rows[i : i + 1]) + packer.flush(zlib.Z_FULL_FLUSH) for i in range(len(rows)))
    yield "flushed-each-byte", gray.file(data=idats([flushed + packer.flush()])), want
    yield "window-too-large", gray.file(data=idats([b"\x88\x1c" + gray.stream[2:]])), None
    small = b"\x08\x1d" + gray.stream[2:]
    yield "window-256-told", gray.file(data=idats([small])), want
    yield "preset-dictionary", gray.file(data=idats([b"\x78\xbb" + gray.stream[2:]])), None
    yield "stream-longer", gray.file(data=idats([zlib.compress(rows + b"more")])), want
    yield "stream-much-longer", gray.file(data=idats([zlib.compress(rows + bytes(2_000_000))])), want
    yield "bytes-behind-stream", gray.file(data=idats([gray.stream + b"junk"])), want
    yield "idat-behind-stream", gray.file(data=idats([gray.stream, b"junk", b"more"])), want
    yield "second-stream", gray.file(data=idats([gray.stream, gray.stream])), want
    yield "row-missing", gray.file(data=idats([zlib.compress(rows[: -WIDTH - 1])])), None
    yield "byte-missing", gray.file(data=idats([zlib.compress(rows[:-1])])), None
    yield "adler-wrong", gray.file(data=idats([gray.stream[:-1] + bytes([gray.stream[-1] ^ 1])])), None
    yield "adler-missing", gray.file(data=idats([gray.stream[:-4]])), None
    yield "adler-cut", gray.file(data=idats([gray.stream[:-1]])), None
    yield "end-of-block-missing", gray.file(data=idats([zlib.compress(rows, 0)[:-5]])), None
    yield "only-empty-idats", gray.file(data=idats([b""] * 3)), None
    yield "filter-5", gray.file(data=idats([zlib.compress(b"\5" + rows[1:])])), None
    yield "filter-255-last", gray.file(data=idats([zlib.compress(rows[: -WIDTH - 1] + b"\xff" + rows[-WIDTH:])])), None


def ancillary():
    p = Parts(0, 8)
    for name, body in ANCILLARY.items():
        text = name.decode()
        trns = (7,) if name == b"tRNS" else None
        c = chunk(name, body)
        yield f"{text}-before", p.file(c), p.pixels(trns)
        yield f"{text}-after", p.file(after=c), None if trns else p.pixels()
        yield f"{text}-behind-iend", p.file(behind=c), p.pixels()
        yield f"{text}-twice", p.file(c + c), None if trns else p.pixels()
        yield f"{text}-empty", p.file(chunk(name)), None if trns else p.pixels()
        yield f"{text}-one-byte-short", p.file(chunk(name, body[:-1])), None if trns else p.pixels()
        yield f"{text}-one-byte-long", p.file(chunk(name, body + b"\0")), None if trns else p.pixels()
        yield f"{text}-ones", p.file(chunk(name, b"\xff" * len(body))), p.pixels((65535,)) if trns else p.pixels()
        yield f"{text}-crc", p.file(damaged_crc(c)), None
        yield f"{text}-70000", p.file(chunk(name, bytes(70000))), None if trns else p.pixels()
        yield f"{text}-amid-idat", p.file(data=idats([p.stream[:9]]) + c + idats([p.stream[9:]])), None
    every = b"".join(chunk(name, body) for name, body in ANCILLARY.items() if name != b"tRNS")
    yield "every-one", p.file(every), p.pixels()
    yield "every-one-behind-data", p.file(after=every), p.pixels()
    yield "same-1000-times", p.file(chunk(b"teSt", b"x") * 1000), p.pixels()
    yield "text-bomb", p.file(chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(50_000_000), 9))), p.pixels()
    yield "international-text-bomb", p.file(chunk(b"iTXt", b"a\0\1\0\0\0" + zlib.compress(bytes(50_000_000), 9))), p.pixels()
    yield "profile-bomb", p.file(chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(50_000_000), 9))), p.pixels()
    yield "text-bombs-40", p.file(chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(3_000_000), 9)) * 40), p.pixels()


def critical():
    p, colour = Parts(0, 8), Parts(3, 4)
    plte = chunk(b"PLTE", bytes(12))
    for name in (b"CgBI", b"JDAT", b"MHDR", b"TeSt", b"PLTe", b"Iend", b"idat", b"Idat", b"ihdr"):
        yield "name-" + name.decode(), p.file(chunk(name, b"\0\0\0\0")), p.pixels() if name[0] & 32 else None
    for name in (b"a1cd", b"ab d", b"\0\0\0\0", b"\xff\xff\xff\xff", b"te\xe4t"):
        yield "no-name-" + name.hex(), p.file(chunk(name)), None
    yield "reserved-bit", p.file(chunk(b"test")), p.pixels()
    yield "second-ihdr", p.file(p.head), None
    yield "second-ihdr-behind", p.file(after=p.head), None
    yield "ihdr-not-first", SIGNATURE + chunk(b"gAMA", b"\0\0\xb1\x8f") + p.file()[8:], None
    yield "ihdr-14", SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBBB", WIDTH, HEIGHT, 8, 0, 0, 0, 0, 0)) + p.file()[33:], None
    yield "ihdr-12", SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBB", WIDTH, HEIGHT, 8, 0, 0, 0)) + p.file()[33:], None
    for at, names in ((24, "depth"), (25, "colour"), (26, "compression"), (27, "filter"), (28, "interlace")):
        for value in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 32, 64, 128, 255):
            head = bytearray(p.head)
            head[at - 8] = value
            head[-4:] = struct.pack(">I", zlib.crc32(bytes(head[4:-4])))
            if bytes(head) != p.head and not (names == "depth" and value in (1, 2, 4)):  # where the stream is too long
                yield f"ihdr-{names}-{value}", SIGNATURE + bytes(head) + p.file()[33:], None
    yield "iend-with-data", p.file()[:-12] + chunk(b"IEND", b"x"), None
    yield "iend-crc", damaged_crc(p.file()), None
    yield "iend-twice", p.file(behind=chunk(b"IEND")), p.pixels()
    yield "iend-missing", p.file()[:-12], None
    for cut in range(1, 12):
        yield f"iend-cut-{cut}", p.file()[:-cut], None
    yield "iend-before-data", SIGNATURE + p.head + chunk(b"IEND") + chunk(b"IDAT", p.stream), None
    yield "data-crc", p.file(data=damaged_crc(chunk(b"IDAT", p.stream))), None
    yield "data-missing", p.file(data=b""), None
    yield "another-file-behind", p.file(behind=p.file()), p.pixels()
    yield "zeros-behind", p.file(behind=bytes(1000)), p.pixels()
    yield "half-chunk-behind", p.file(behind=b"\0\0"), p.pixels()
    for length in (0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFF4):
        yield f"length-{length:x}", p.file(struct.pack(">I", length) + b"teSt"), None
    yield "plte-in-gray", p.file(plte), None
    yield "plte-in-gray-alpha", Parts(4, 8).file(plte), None
    rgb = Parts(2, 8)
    yield "plte-in-rgb", rgb.file(plte), rgb.pixels()
    yield "plte-in-rgba", Parts(6, 8).file(plte), Parts(6, 8).pixels()
    yield "plte-in-rgb-behind", rgb.file(after=plte), None
    yield "plte-in-rgb-13-bytes", rgb.file(chunk(b"PLTE", bytes(13))), None
    yield "plte-in-rgb-257", rgb.file(chunk(b"PLTE", bytes(771))), None
    yield "plte-in-rgb-empty", rgb.file(chunk(b"PLTE")), None
    yield "plte-crc", colour.file()[: 33 + len(colour.plte) - 1] + b"\0" + colour.file()[33 + len(colour.plte) :], None
    yield "plte-twice", colour.file(colour.plte), None
    yield "plte-twice-behind", colour.file(after=colour.plte), None
    for colours in (1, 2, 3, 15, 16):
        c = Parts(3, 4, colours=colours)
        yield f"plte-{colours}", c.file(), c.pixels()
        for entries in range(1, colours + 1, 3):
            trns = np.arange(entries) * 9
            yield f"plte-{colours}-trns-{entries}", c.file(between=chunk(b"tRNS", bytes(trns.tolist()))), c.pixels(trns)
    two = Parts(3, 1, colours=2)
    long = two.file()[:33] + chunk(b"PLTE", two.palette.astype(np.uint8).tobytes() + bytes(30)) + chunk(b"IDAT", two.stream)
    yield "plte-more-than-depth", long + chunk(b"IEND"), two.pixels()
    for size in (0, 1, 3, 5, 12, 13, 14, 768, 769, 771):
        c = chunk(b"PLTE", bytes(size))
        black = np.zeros((HEIGHT, WIDTH, 3), int) if size in (3, 12, 768) else None
        yield f"plte-bytes-{size}", SIGNATURE + colour.head + c + chunk(b"IDAT", colour.stream) + chunk(b"IEND"), black


def transparency():
    for colour in (0, 2, 3, 4, 6):
        for depth in (1, 2, 4, 8, 16):
            if (depth < 8 and colour not in (0, 3)) or (depth == 16 and colour == 3):
                continue
            p = Parts(colour, depth)
            right = {0: 2, 2: 6, 3: len(p.palette)}.get(colour)
            for size in (0, 1, 2, 3, 4, 5, 6, 7, 256, 257):
                body = bytes(range(7, 7 + size)) if size < 9 else bytes(size)
                fits = 1 <= size <= right if colour == 3 else size == right
                want = None
                if fits:
                    key = list(body) if colour == 3 else struct.unpack(">%dH" % (size // 2), body)
                    want = p.pixels(key)
                yield f"trns-{colour}-{depth}-{size}", p.file(between=chunk(b"tRNS", body)), want
            if colour not in (0, 2):
                continue
            first = tuple(int(v) for v in p.samples[2, 3])
            for name, key in (("hit", first), ("past-depth", tuple(v | 1 << depth for v in first))):
                if max(key) < 65536:
                    c = chunk(b"tRNS", struct.pack(">%dH" % len(key), *key))
                    yield f"trns-{colour}-{depth}-{name}", p.file(c), p.pixels(key)
    p = Parts(3, 4)
    trns = chunk(b"tRNS", bytes([5, 6]))
    yield "trns-before-plte", p.file(trns), None
    yield "trns-behind", p.file(after=trns), None
    yield "trns-twice", p.file(between=trns + trns), None
    yield "trns-palette-crc", p.file(between=damaged_crc(trns)), None
    rgb = Parts(2, 8)
    key = chunk(b"tRNS", bytes(6))
    yield "trns-rgb-before-plte", rgb.file(key + chunk(b"PLTE", bytes(12))), None
    yield "trns-rgb-behind-plte", rgb.file(chunk(b"PLTE", bytes(12)) + key), rgb.pixels((0, 0, 0))


def exif():
    p = Parts(0, 8)
    for name, blocks in {"twice": (6, 1), "twice-other": (1, 6)}.items():
        chunks = b"".join(chunk(b"eXIf", tiff(value, "MM")) for value in blocks)
        yield f"exif-{name}", p.file(chunks), upright(p.pixels(), blocks[0])


def oddities():
    for part in (split_streams, ancillary, critical, transparency, exif):
        for name, data, pixels in part():
            if pixels is not None and pixels.ndim == 2:
                pixels = pixels[..., None]
            yield name, data, pixels
