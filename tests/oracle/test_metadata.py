"""Metadata from file to file, of either format, written and read by Pillow and by a reader of chunks and segments here."""

import hashlib
import io
import struct
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image, ImageCms, PngImagePlugin

from oracle_images import assert_same, smooth_image, write_png

ORIENTATION, WIDTH, HEIGHT, MAKE, EXIF_IFD = 0x0112, 0xA002, 0xA003, 0x010F, 0x8769
XMP_NAME = b"http://ns.adobe.com/xap/1.0/\0"
ICC_NAME = b"ICC_PROFILE\0"
XMP = (
    b'<?xpacket begin="\xef\xbb\xbf" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">'
    b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""'
    b' xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:Orientation="6" tiff:Make="Caf\xc3\xa9"/></rdf:RDF></x:xmpmeta>'
    b'<?xpacket end="w"?>'
)
RDF, TIFF, EXIF = (f"{{http://{name}}}" for name in ("www.w3.org/1999/02/22-rdf-syntax-ns#", "ns.adobe.com/tiff/1.0/",
                                                     "ns.adobe.com/exif/1.0/"))  # fmt: skip
PngImagePlugin.MAX_TEXT_CHUNK = 8_000_000  # of profiles, too
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def profile(space, size=200, name=b"made up"):
    """A profile of `size` bytes, with a description of version 2 and noise."""
    data = bytearray(np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes())
    desc = b"desc" + bytes(4) + struct.pack(">I", len(name) + 1) + name + b"\0"
    data[:128] = struct.pack(">I4sI4s4s4s", size, b"test", 0x02100000, b"mntr", space, b"XYZ ").ljust(128, b"\0")
    data[36:40] = b"acsp"
    data[128:144] = struct.pack(">I4sII", 1, b"desc", 144, len(desc))
    data[144 : 144 + len(desc)] = desc
    return bytes(data)


def exif_block(orientation=6, size=(64, 48), order="<", thumbnail=None):
    """TIFF by hand: Make, orientation, an EXIF directory with the size, and a thumbnail in a second directory."""
    make = b"Caf\xc3\xa9 camera\0"

    def entry(tag, kind, count, value):
        if kind == 3:
            return struct.pack(order + "HHIHH", tag, kind, count, value, 0)
        return struct.pack(order + "HHII", tag, kind, count, value)

    first = 8
    own = first + 2 + 3 * 12 + 4
    text = own + 2 + 2 * 12 + 4
    second = text + len(make) + len(make) % 2
    data = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", first)
    data += struct.pack(order + "H", 3) + entry(MAKE, 2, len(make), text) + entry(ORIENTATION, 3, 1, orientation)
    data += entry(EXIF_IFD, 4, 1, own) + struct.pack(order + "I", second if thumbnail else 0)
    data += struct.pack(order + "H", 2) + entry(WIDTH, 4, 1, size[0]) + entry(HEIGHT, 3, 1, size[1]) + bytes(4)
    data += make + bytes(len(make) % 2)
    if thumbnail:
        at = second + 2 + 2 * 12 + 4
        data += struct.pack(order + "H", 2) + entry(0x0201, 4, 1, at) + entry(0x0202, 4, 1, len(thumbnail))
        data += bytes(4) + thumbnail
    return data


def chunk(name, body=b""):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def chunks_of(data):
    """[(name, body)] of a PNG, each CRC looked at."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, found = 8, []
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        name, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(name + body)
        found.append((name, body))
        at += 12 + size
    return found


def segments_of(data):
    """[(code, body)] of a JPEG up to its first scan."""
    at, found = 2, []
    while data[at + 1] != 0xDA:
        assert data[at] == 0xFF
        (size,) = struct.unpack(">H", data[at + 2 : at + 4])
        found.append((data[at + 1], data[at + 4 : at + 2 + size]))
        at += 2 + size
    return found


def metadata_of(path):
    """What is beside the pixels: icc, exif, xmp as bytes, the rest as chunks; checked for PNG's order."""
    data = path.read_bytes()
    if data[:2] == b"\xff\xd8":
        segments = segments_of(data)
        parts = [(b[12], b[13], b[14:]) for c, b in segments if c == 0xE2 and b.startswith(ICC_NAME)]
        assert [p[0] for p in parts] == list(range(1, len(parts) + 1)) and all(p[1] == len(parts) for p in parts)
        exif = [b[6:] for c, b in segments if c == 0xE1 and b.startswith(b"Exif\0\0")]
        xmp = [b[len(XMP_NAME) :] for c, b in segments if c == 0xE1 and b.startswith(XMP_NAME)]
        assert len(exif) <= 1 and len(xmp) <= 1
        jfif = next(b for c, b in segments if c == 0xE0)
        return {"icc": b"".join(p[2] for p in parts), "exif": b"".join(exif), "xmp": b"".join(xmp),
                "density": struct.unpack(">BHH", jfif[7:12])}  # fmt: skip
    chunks = chunks_of(data)
    names = [name for name, _ in chunks]
    kept = dict(chunks)
    assert len(set(names) - {b"IDAT"}) == len([n for n in names if n != b"IDAT"])
    first = names.index(b"PLTE") if b"PLTE" in names else names.index(b"IDAT")
    assert all(names.index(n) < first for n in (b"iCCP", b"gAMA", b"cHRM", b"sRGB", b"cICP") if n in names)
    icc = kept.get(b"iCCP", b"")
    xmp = kept.get(b"iTXt", b"")
    return {"icc": zlib.decompress(icc[icc.index(b"\0") + 2 :]) if icc else b"", "exif": kept.get(b"eXIf", b""),
            "xmp": xmp[len("XML:com.adobe.xmp") + 5 :], "density": kept.get(b"pHYs"), "chunks": kept}  # fmt: skip


def png_with(path, image, *before, after=()):
    """Writes a PNG with more chunks behind IHDR, and behind the image."""
    write_png(path, image)
    data = path.read_bytes()
    end = len(data) - 12
    path.write_bytes(data[:33] + b"".join(before) + data[33:end] + b"".join(after) + data[end:])
    return path


def jpeg_with(path, image, *segments, **options):
    """Writes a JPEG with more segments behind JFIF's."""
    Image.fromarray(image).save(path, "JPEG", **options)
    data = path.read_bytes()
    more = b"".join(struct.pack(">BBH", 0xFF, code, len(body) + 2) + body for code, body in segments)
    path.write_bytes(data[:20] + more + data[20:])
    return path


def iccp(data, name=b"a name"):
    return chunk(b"iCCP", name + b"\0\0" + zlib.compress(data))


def xmp_chunk(packet, packed=False):
    text = zlib.compress(packet) if packed else packet
    return chunk(b"iTXt", b"XML:com.adobe.xmp\0" + bytes([packed, 0]) + b"en\0XMP\0" + text)


def icc_segments(data, size=65519):
    parts = [data[i : i + size] for i in range(0, len(data), size)]
    return [(0xE2, ICC_NAME + bytes([i + 1, len(parts)]) + part) for i, part in enumerate(parts)]


IMAGE = smooth_image((64, 48))
KEEP = ("threshold", "--level", 200)  # of RGB it makes RGB
SOURCES = ("png", "jpg")


def full(path, image=IMAGE, icc=SRGB, exif=None, xmp=XMP):
    """A file of the path's format with all of it."""
    exif = exif_block() if exif is None else exif
    if path.suffix == ".png":
        dense = chunk(b"pHYs", struct.pack(">IIB", 11811, 5906, 1))
        return png_with(path, image, iccp(icc), dense, chunk(b"eXIf", exif), xmp_chunk(xmp, packed=True))
    more = [(0xE1, b"Exif\0\0" + exif), (0xE1, XMP_NAME + xmp), *icc_segments(icc)]
    return jpeg_with(path, image, *more, dpi=(300, 150))


@pytest.mark.parametrize("out", SOURCES)
@pytest.mark.parametrize("source", SOURCES)
def test_everything_is_kept(gpuimg, source, out, tmp_path):
    full(tmp_path / f"in.{source}")
    gpuimg.run(*KEEP, tmp_path / f"in.{source}", tmp_path / f"out.{out}")
    kept = metadata_of(tmp_path / f"out.{out}")
    assert kept["icc"] == SRGB
    assert kept["xmp"] == XMP.replace(b'Orientation="6"', b'Orientation="1"')
    with Image.open(tmp_path / f"out.{out}") as image:
        image.load()
        assert image.size == (48, 64)  # orientation 6 was applied
        assert image.info["icc_profile"] == SRGB
        exif = image.getexif()
        assert exif[ORIENTATION] == 1
        assert exif.get_ifd(EXIF_IFD) == {WIDTH: 48, HEIGHT: 64}
        assert exif[MAKE].encode("latin-1", "replace") == b"Caf\xc3\xa9 camera" or "camera" in exif[MAKE]
        # Turned, so that across is down.
        assert tuple(round(v) for v in image.info["dpi"]) == (150, 300)
    if out == "png" and source == "png":
        assert kept["density"] == struct.pack(">IIB", 5906, 11811, 1)
    if out == "jpg":
        assert kept["density"] == (1, 150, 300)


@pytest.mark.parametrize("out", SOURCES)
@pytest.mark.parametrize("source", SOURCES)
def test_strip_removes_all(gpuimg, source, out, tmp_path):
    full(tmp_path / f"in.{source}")
    for more in ((), ("--no-auto-orient",)):
        done = gpuimg.run(*KEEP, "--strip", "-v", *more, tmp_path / f"in.{source}", tmp_path / f"out.{out}")
        assert "kept" not in done.stderr
        kept = metadata_of(tmp_path / f"out.{out}")
        assert not kept["icc"] and not kept["exif"] and not kept["xmp"]
        assert kept["density"] == (None if out == "png" else (0, 1, 1))
        if out == "png":
            assert set(kept["chunks"]) <= {b"IHDR", b"PLTE", b"IDAT", b"IEND"}


@pytest.mark.parametrize("out", SOURCES)
@pytest.mark.parametrize("source", SOURCES)
def test_pixels_that_are_not_turned_keep_the_orientation(gpuimg, source, out, tmp_path):
    full(tmp_path / f"in.{source}")
    gpuimg.run(*KEEP, "--no-auto-orient", tmp_path / f"in.{source}", tmp_path / f"out.{out}")
    kept = metadata_of(tmp_path / f"out.{out}")
    assert kept["xmp"] == XMP
    with Image.open(tmp_path / f"out.{out}") as image:
        assert image.size == (64, 48)
        assert image.getexif()[ORIENTATION] == 6
        assert image.getexif().get_ifd(EXIF_IFD) == {WIDTH: 64, HEIGHT: 48}
        assert tuple(round(v) for v in image.info["dpi"]) == (300, 150)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_and_byte_order(gpuimg, orientation, order, tmp_path):
    full(tmp_path / "in.jpg", exif=exif_block(orientation, order=order))
    gpuimg.run(*KEEP, tmp_path / "in.jpg", tmp_path / "out.png")
    exif = metadata_of(tmp_path / "out.png")["exif"]
    size = (48, 64) if orientation >= 5 else (64, 48)
    with Image.open(tmp_path / "out.png") as image:
        image.load()
        assert image.size == size
        assert image.getexif()[ORIENTATION] == 1
        assert image.getexif().get_ifd(EXIF_IFD) == {WIDTH: size[0], HEIGHT: size[1]}
    # Nothing but those numbers (the height's type and count with it) has changed.
    before = exif_block(orientation, order=order)
    assert len(exif) == len(before)
    changed = [i for i, (a, b) in enumerate(zip(exif, before)) if a != b]
    assert all(22 + 8 <= i < 34 or 50 + 2 <= i < 76 for i in changed), changed


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_thumbnail_goes(gpuimg, order, tmp_path):
    secret = b"\xff\xd8" + b"a face that was cut out" * 9 + b"\xff\xd9"
    block = exif_block(order=order, thumbnail=secret)
    for data in (block, block + b"maker's own"):
        full(tmp_path / "in.jpg", exif=data)
        gpuimg.run(*KEEP, tmp_path / "in.jpg", tmp_path / "out.jpg")
        exif = metadata_of(tmp_path / "out.jpg")["exif"]
        assert secret not in exif and b"a face" not in exif
        assert data.endswith(secret) or exif.endswith(b"maker's own")
        with Image.open(tmp_path / "out.jpg") as image:
            assert "camera" in image.getexif()[MAKE]


@pytest.mark.parametrize("strips", [1, 2, 3, 40])
@pytest.mark.parametrize("order", ["<", ">"])
def test_a_thumbnail_without_compression_goes(gpuimg, order, strips, tmp_path):
    """TIFF's strips of samples, which EXIF allows, too: offsets and sizes in the entry, or elsewhere."""
    secret, block = b"a face that was cut out" * 3, exif_block(order=order)
    link = 8 + 2 + 3 * 12
    second = len(block)
    arrays = second + 2 + 2 * 12 + 4
    start = arrays + 8 * strips
    offsets, sizes = [start + len(secret) * i for i in range(strips)], [len(secret)] * strips
    short = struct.pack(order + "HHIHH", 0x0117, 3, strips, *((sizes + [0])[:2] if strips <= 2 else (0, 0)))
    if strips > 2:
        short = struct.pack(order + "HHII", 0x0117, 3, strips, arrays + 4 * strips)
    long = struct.pack(order + "HHII", 0x0111, 4, strips, arrays if strips > 1 else start)
    block = block[:link] + struct.pack(order + "I", second) + block[link + 4 :] + struct.pack(order + "H", 2) + long + short + bytes(4)
    block += struct.pack(f"{order}{strips}I", *offsets) + struct.pack(f"{order}{strips}H", *sizes).ljust(4 * strips, b"\0")
    for data in (block + secret * strips, block + secret * strips + b"maker's own"):
        full(tmp_path / "in.jpg", exif=data)
        gpuimg.run(*KEEP, tmp_path / "in.jpg", tmp_path / "out.jpg")
        exif = metadata_of(tmp_path / "out.jpg")["exif"]
        assert b"a face" not in exif and len(exif) > second
        assert data.endswith(secret) or exif.endswith(b"maker's own")
        with Image.open(tmp_path / "out.jpg") as image:
            assert "camera" in image.getexif()[MAKE]


PICTURES = XMP.replace(b"</rdf:RDF>", b'<rdf:Description xmlns:xmpGImg="http://ns.adobe.com/xap/1.0/g/img/">'
                       b"<xmpGImg:image>L2EgZmFjZS8&#xA;L2EgZmFjZS8=</xmpGImg:image></rdf:Description></rdf:RDF>")  # fmt: skip


@pytest.mark.parametrize("out", SOURCES)
@pytest.mark.parametrize("source", SOURCES)
def test_pictures_in_xmp_go(gpuimg, source, out, tmp_path):
    """Adobe's thumbnails, and what they show of before."""
    full(tmp_path / f"in.{source}", xmp=PICTURES)
    gpuimg.run(*KEEP, tmp_path / f"in.{source}", tmp_path / f"out.{out}")
    kept = metadata_of(tmp_path / f"out.{out}")["xmp"]
    picture = next(ElementTree.fromstring(kept).iter("{http://ns.adobe.com/xap/1.0/g/img/}image"))
    assert picture.text.strip() == "" and len(kept) == len(PICTURES)


# ---- colour -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("out", SOURCES)
@pytest.mark.parametrize("source", SOURCES)
def test_a_profile_for_colours_does_not_go_with_gray(gpuimg, source, out, tmp_path):
    full(tmp_path / f"in.{source}")
    done = gpuimg.run("gray", "-v", tmp_path / f"in.{source}", tmp_path / f"out.{out}")
    assert "RGB profile" in done.stderr and "not kept" in done.stderr
    kept = metadata_of(tmp_path / f"out.{out}")
    assert not kept["icc"] and kept["exif"] and kept["xmp"]
    done = gpuimg.run("gray", tmp_path / f"in.{source}", tmp_path / f"out.{out}")
    assert done.stderr == ""


def test_profiles_for_gray(gpuimg, tmp_path):
    gray = profile(b"GRAY")
    for source in SOURCES:
        full(tmp_path / f"in.{source}", IMAGE[..., 0].copy(), icc=gray)
        for out in SOURCES:
            gpuimg.run("blur", tmp_path / f"in.{source}", tmp_path / f"out.{out}")
            assert metadata_of(tmp_path / f"out.{out}")["icc"] == gray
    cmyk = profile(b"CMYK")
    full(tmp_path / "cmyk.jpg", icc=cmyk)
    done = gpuimg.run("blur", "-v", tmp_path / "cmyk.jpg", tmp_path / "out.png")
    assert "CMYK profile 'made up'" in done.stderr
    assert not metadata_of(tmp_path / "out.png")["icc"]


def test_stb_writes_gray_as_colours(gpuimg, tmp_path):
    full(tmp_path / "in.png", IMAGE[..., 0].copy(), icc=profile(b"GRAY"))
    done = gpuimg.run("blur", "-v", "--codec", "stb", tmp_path / "in.png", tmp_path / "out.jpg")
    kept = metadata_of(tmp_path / "out.jpg")
    assert "GRAY profile" in done.stderr and not kept["icc"] and kept["exif"] and kept["density"][0] == 1


@pytest.mark.parametrize("codec", ["auto", "zlib", "stb"])
@pytest.mark.parametrize("size", [132, 65519, 65520, 300_000, 3_000_000])
def test_profiles_in_parts(gpuimg, size, codec, tmp_path):
    data = profile(b"RGB ", max(size, 200))
    jpeg_with(tmp_path / "in.jpg", IMAGE, *reversed(icc_segments(data, 30_001 if size < 3_000_000 else 65519)))
    gpuimg.run(*KEEP, "--codec", codec, tmp_path / "in.jpg", tmp_path / "a.png")
    gpuimg.run(*KEEP, "--codec", codec, tmp_path / "a.png", tmp_path / "b.jpg")
    assert metadata_of(tmp_path / "a.png")["icc"] == data
    assert metadata_of(tmp_path / "b.jpg")["icc"] == data
    with Image.open(tmp_path / "a.png") as image:
        assert image.info["icc_profile"] == data


@pytest.mark.parametrize("reduce", ["on", "auto"])
def test_reduced_pngs_keep_to_the_profiles_colours(gpuimg, reduce, tmp_path):
    """A palette counts as RGB; gray that was RGB, and a palette of grays, would not fit."""
    flat = np.repeat(np.where(IMAGE[..., :1] > 128, 200, 30), 3, axis=2).astype(np.uint8)
    for image, icc, types in ((flat, SRGB, (2, 3)), (flat[..., 0].copy(), profile(b"GRAY"), (0,))):
        full(tmp_path / "in.png", image, icc=icc, exif=exif_block(1))
        gpuimg.run("blur", "--sigma", 0.01, "--png-reduce", reduce, tmp_path / "in.png", tmp_path / "out.png")
        assert (tmp_path / "out.png").read_bytes()[25] in types
        assert metadata_of(tmp_path / "out.png")["icc"] == icc
        with Image.open(tmp_path / "out.png") as opened:
            assert_same(np.asarray(opened.convert("RGB" if image.ndim == 3 else "L")), image, reduce)


GAMA, SRGB_CHUNK = chunk(b"gAMA", struct.pack(">I", 55556)), chunk(b"sRGB", b"\1")
CHRM = chunk(b"cHRM", struct.pack(">8I", 31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000))
CICP = chunk(b"cICP", bytes([9, 16, 0, 1]))


def test_chunks_about_colour(gpuimg, tmp_path):
    png_with(tmp_path / "in.png", IMAGE, GAMA, SRGB_CHUNK, CHRM, CICP)
    gpuimg.run(*KEEP, tmp_path / "in.png", tmp_path / "out.png")
    data = (tmp_path / "out.png").read_bytes()
    assert all(data.count(c) == 1 for c in (GAMA, SRGB_CHUNK, CHRM, CICP))
    metadata_of(tmp_path / "out.png")
    done = gpuimg.run("gray", "-v", tmp_path / "in.png", tmp_path / "out.png")
    assert "cHRM" in done.stderr
    data = (tmp_path / "out.png").read_bytes()
    assert all(data.count(c) == 1 for c in (GAMA, SRGB_CHUNK, CICP)) and b"cHRM" not in data
    done = gpuimg.run(*KEEP, "-v", tmp_path / "in.png", tmp_path / "out.jpg")
    assert "cICP" in done.stderr
    png_with(tmp_path / "in.png", IMAGE, SRGB_CHUNK)
    assert "no place" not in gpuimg.run(*KEEP, "-v", tmp_path / "in.png", tmp_path / "out.jpg").stderr
    with Image.open(tmp_path / "in.png") as image:
        assert image.info["srgb"] == 1


@pytest.mark.parametrize("bad", [
    chunk(b"gAMA", bytes(4)), chunk(b"gAMA", bytes(3)), chunk(b"sRGB", b"\4"), chunk(b"sRGB", b""),
    chunk(b"cHRM", bytes(31)), chunk(b"cICP", bytes(5)), chunk(b"pHYs", bytes(9)), chunk(b"pHYs", bytes([1] * 8 + [2])),
    chunk(b"pHYs", bytes([255] * 8 + [1])), chunk(b"eXIf", b"no TIFF at all"), chunk(b"iCCP", b"name"),
    chunk(b"iCCP", b"name\0\0"), chunk(b"iCCP", b"x" * 90), chunk(b"iTXt", b"XML:com.adobe.xmp\0"),
    chunk(b"iTXt", b"XML:com.adobe.xmp\0\2\0\0\0x"),
])  # fmt: skip
def test_malformed_chunks_are_left_out(gpuimg, bad, tmp_path):
    png_with(tmp_path / "in.png", IMAGE, bad)
    gpuimg.run(*KEEP, tmp_path / "in.png", tmp_path / "out.png")
    assert {n for n, _ in chunks_of((tmp_path / "out.png").read_bytes())} <= {b"IHDR", b"PLTE", b"IDAT", b"IEND"}


def test_the_first_counts_and_late_ones_do_not(gpuimg, tmp_path):
    other = chunk(b"gAMA", struct.pack(">I", 1))
    png_with(tmp_path / "in.png", IMAGE, GAMA, other, iccp(SRGB), iccp(profile(b"RGB ")),
             after=(CHRM, xmp_chunk(XMP), chunk(b"eXIf", exif_block(1))))  # fmt: skip
    gpuimg.run(*KEEP, tmp_path / "in.png", tmp_path / "out.png")
    kept = metadata_of(tmp_path / "out.png")
    assert kept["chunks"][b"gAMA"] == GAMA[8:12] and kept["icc"] == SRGB and b"cHRM" not in kept["chunks"]
    assert kept["xmp"] and kept["exif"]  # these may follow the image


# ---- density ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dpi", [1, 72, 96, 150, 300, 600, 1200, 2400])
def test_density_across_formats(gpuimg, dpi, tmp_path):
    jpeg_with(tmp_path / "a.jpg", IMAGE, dpi=(dpi, dpi))
    gpuimg.run(*KEEP, tmp_path / "a.jpg", tmp_path / "b.png")
    metres = struct.unpack(">IIB", metadata_of(tmp_path / "b.png")["density"])
    assert metres == (round(dpi / 0.0254), round(dpi / 0.0254), 1)
    gpuimg.run(*KEEP, tmp_path / "b.png", tmp_path / "c.jpg")
    with Image.open(tmp_path / "c.jpg") as image:
        assert image.info["dpi"] == (dpi, dpi)


def test_units(gpuimg, tmp_path):
    png_with(tmp_path / "in.png", IMAGE, chunk(b"pHYs", struct.pack(">IIB", 4000, 7900, 1)))
    gpuimg.run(*KEEP, tmp_path / "in.png", tmp_path / "out.jpg")
    assert metadata_of(tmp_path / "out.jpg")["density"] == (2, 40, 79)
    gpuimg.run(*KEEP, tmp_path / "out.jpg", tmp_path / "out.png")
    assert metadata_of(tmp_path / "out.png")["density"] == struct.pack(">IIB", 4000, 7900, 1)
    png_with(tmp_path / "in.png", IMAGE, chunk(b"pHYs", struct.pack(">IIB", 4, 3, 0)))
    gpuimg.run(*KEEP, tmp_path / "in.png", tmp_path / "out.jpg")
    assert metadata_of(tmp_path / "out.jpg")["density"] == (0, 4, 3)
    png_with(tmp_path / "in.png", IMAGE, chunk(b"pHYs", struct.pack(">IIB", 2**31 - 1, 9, 1)))
    gpuimg.run(*KEEP, tmp_path / "in.png", tmp_path / "out.jpg")
    assert metadata_of(tmp_path / "out.jpg")["density"] == (0, 1, 1)  # no 16 bits hold it


# ---- what a JPEG alone has places for ------------------------------------------------------------------------------

MORE_NAME, PHOTOSHOP = b"http://ns.adobe.com/xmp/extension/\0", b"Photoshop 3.0\0"
GUID = b"0123456789ABCDEF0123456789ABCDEF"
NAMES_MORE = XMP.replace(b"tiff:Orientation=", b'xmlns:xmpNote="http://ns.adobe.com/xmp/note/" xmpNote:HasExtendedXMP="' + GUID
                         + b'" tiff:Orientation=')  # fmt: skip
RECORDS = b"\x1c\x02\x05\x00\x07a title\x1c\x02\x50\x00\x06a name"


def more_xmp(text, size=65400, guid=GUID, full=None):
    return [(0xE1, MORE_NAME + guid + struct.pack(">II", len(text) if full is None else full, at) + text[at : at + size])
            for at in range(0, len(text), size)]


def part(full, at, size):
    return 0xE1, MORE_NAME + GUID + struct.pack(">II", full, at) + bytes(range(65, 65 + size))


def resource(number, data, name=b""):
    name = bytes([len(name)]) + name
    return b"8BIM" + struct.pack(">H", number) + name + bytes(len(name) % 2) + struct.pack(">I", len(data)) + data + bytes(len(data) % 2)


def more_of(path):
    """Extended XMP as parts make it, and IPTC as Pillow finds it."""
    text = bytearray()
    for code, body in segments_of(path.read_bytes()):
        if code == 0xE1 and body.startswith(MORE_NAME):
            full, at = struct.unpack(">II", body[len(MORE_NAME) + 32 : len(MORE_NAME) + 40])
            assert body[len(MORE_NAME) :].startswith(GUID) and at == len(text)
            text += body[len(MORE_NAME) + 40 :]
            assert len(text) <= full
    with Image.open(path) as image:
        image.load()
        return bytes(text), image.info.get("photoshop", {}).get(0x0404)


@pytest.mark.parametrize("records", [RECORDS, RECORDS + b"\0", RECORDS.ljust(65507, b"x"), RECORDS.ljust(65506, b"x")], ids=len)
@pytest.mark.parametrize("size", [1, 65_400, 300_001])
def test_more_xmp_and_iptc_stay_in_a_jpeg(gpuimg, size, records, tmp_path):
    text = np.random.default_rng(size).integers(32, 127, size, np.uint8).tobytes()
    parts = more_xmp(text, 40_000)
    photoshop = PHOTOSHOP + (resource(0x0404, records) if len(records) < 65506 else b"8BIM\4\4\0\0" + struct.pack(">I", len(records)) + records)
    jpeg_with(tmp_path / "in.jpg", IMAGE, (0xE1, XMP_NAME + NAMES_MORE), *reversed(parts), (0xED, photoshop))
    done = gpuimg.run(*KEEP, "-v", tmp_path / "in.jpg", tmp_path / "out.jpg")
    assert "kept" not in done.stderr
    assert more_of(tmp_path / "out.jpg") == (text, records)
    gpuimg.run(*KEEP, "--strip", tmp_path / "in.jpg", tmp_path / "out.jpg")
    assert more_of(tmp_path / "out.jpg") == (b"", None)
    done = gpuimg.run(*KEEP, "-v", tmp_path / "in.jpg", tmp_path / "out.png")
    assert "PNG has no place for extended XMP and IPTC: not kept" in done.stderr
    assert metadata_of(tmp_path / "out.png")["xmp"]


def whole_iptc(path):
    """IPTC's records in what the Photoshop segments hold one after the other."""
    data = b"".join(body[len(PHOTOSHOP) :] for code, body in segments_of(path.read_bytes()) if code == 0xED)
    assert data.startswith(b"8BIM\4\4\0\0")
    size = struct.unpack(">I", data[8:12])[0]
    assert data[12 + size :] in (b"", b"\0")
    return data[12 : 12 + size]


@pytest.mark.parametrize("size", [65_507, 65_508, 82_000, 131_026, 131_027, 131_028, 7_900_001])
@pytest.mark.parametrize("cut", [11, 65_000])
def test_iptc_goes_on_in_further_segments(gpuimg, size, cut, tmp_path):
    records = np.random.default_rng(size).integers(0, 256, size, np.uint8).tobytes()
    data = resource(0x0404, records)
    ends = [0, *range(cut, len(data), 65_000), len(data)]
    parts = [(0xED, PHOTOSHOP + data[a:b]) for a, b in zip(ends, ends[1:])]
    jpeg_with(tmp_path / "in.jpg", IMAGE, *parts)
    for _ in range(2):
        done = gpuimg.run(*KEEP, "-v", tmp_path / "in.jpg", tmp_path / "out.jpg")
        assert "kept" not in done.stderr
        assert whole_iptc(tmp_path / "out.jpg") == records
        (tmp_path / "out.jpg").rename(tmp_path / "in.jpg")


@pytest.mark.parametrize("kind", [0x0404, 0x040C])
def test_a_cut_resource_takes_nothing_of_the_next_segment(gpuimg, kind, tmp_path):
    jpeg_with(tmp_path / "in.jpg", IMAGE, (0xED, PHOTOSHOP + resource(kind, RECORDS)[:-4]), (0xED, PHOTOSHOP + resource(0x0404, RECORDS)))
    done = gpuimg.run(*KEEP, "-v", tmp_path / "in.jpg", tmp_path / "out.jpg")
    assert "not kept: APP13" in done.stderr and more_of(tmp_path / "out.jpg") == (b"", RECORDS)


def test_iptc_leaves_photoshops_other_resources_behind(gpuimg, tmp_path):
    thumbnail = resource(0x040C, b"a face that was cut out")
    body = PHOTOSHOP + resource(0x03ED, bytes(16)) + resource(0x0404, RECORDS, b"a name") + thumbnail
    jpeg_with(tmp_path / "in.jpg", IMAGE, (0xED, body), (0xED, PHOTOSHOP + resource(0x0404, b"a second")))
    done = gpuimg.run(*KEEP, "-v", tmp_path / "in.jpg", tmp_path / "out.jpg")
    assert "not kept: APP13" in done.stderr and b"a face" not in (tmp_path / "out.jpg").read_bytes()
    assert more_of(tmp_path / "out.jpg") == (b"", RECORDS)


@pytest.mark.parametrize("parts, said", [
    (more_xmp(b"text", guid=GUID[::-1]), "extended XMP is damaged"),        # of another packet
    (more_xmp(b"text", full=5), "extended XMP is damaged"),                 # one is missing
    (more_xmp(b"text", full=3), "extended XMP is damaged"),
    (more_xmp(b"text") * 2, "extended XMP is damaged"),
    (more_xmp(b"text", full=2**32 - 1), "extended XMP is damaged"),
    ([(0xE1, MORE_NAME + GUID)], "extended XMP is damaged"),
    ([(0xE1, MORE_NAME)], "extended XMP is damaged"),
    ([part(20, 5, 10), part(20, 5, 10)], "extended XMP is damaged"),        # as many bytes as there should be
    ([part(20, 10, 10), part(20, 1, 9), part(20, 9, 1)], "extended XMP is damaged"),
    ([part(0xF0000000, 0xF0000000, 0), part(10, 0, 10)], "extended XMP is damaged"),
    ([part(10, 0, 10), part(11, 10, 0)], "extended XMP is damaged"),
    (more_xmp(bytes(8_000_001)), "has more than 8 MB"),
    ([(0xED, PHOTOSHOP + resource(0x0404, RECORDS)[:-4])], "IPTC is damaged"),
    ([(0xED, PHOTOSHOP + b"8BIM\4\4\0\0\xff\0\0\0"), (0xED, PHOTOSHOP + RECORDS)], "IPTC is damaged"),
    ([(0xED, PHOTOSHOP + b"8BIM\4\4\0\0\xff\0\0\0")] + [(0xED, PHOTOSHOP + bytes(65_000))] * 124, "IPTC has more than 8 MB"),
], ids=range(15))  # fmt: skip
def test_what_is_damaged_of_these(gpuimg, parts, said, tmp_path):
    jpeg_with(tmp_path / "in.jpg", IMAGE, (0xE1, XMP_NAME + NAMES_MORE), *parts)
    done = gpuimg.run(*KEEP, "-v", tmp_path / "in.jpg", tmp_path / "out.jpg")
    assert said in done.stderr and more_of(tmp_path / "out.jpg") == (b"", None)
    assert metadata_of(tmp_path / "out.jpg")["xmp"]


X_RESOLUTION, Y_RESOLUTION, UNIT, FOCAL_X, FOCAL_Y = 0x011A, 0x011B, 0x0128, 0xA20E, 0xA20F


@pytest.mark.parametrize("orientation", [1, 2, 3, 4, 5, 6, 7, 8])
@pytest.mark.parametrize("source", SOURCES)
def test_what_is_across_is_down_once_turned(gpuimg, source, orientation, tmp_path):
    """Resolutions and sizes, in EXIF, XMP and the format's own place; Pillow reads them."""
    exif = Image.Exif()
    exif.update({ORIENTATION: orientation, X_RESOLUTION: 300.0, Y_RESOLUTION: 150.0, UNIT: 2})
    exif[EXIF_IFD] = {WIDTH: 64, HEIGHT: 48, FOCAL_X: 4000.0, FOCAL_Y: 2000.0}
    names = ("exif:Pixel%sDimension", "tiff:%sResolution", "exif:FocalPlane%sResolution")
    told = b" ".join(f'{n % "X"}="7" {n % "Y"}="9"'.encode() for n in names)
    told += b' xmlns:exif="http://ns.adobe.com/exif/1.0/" tiff:ImageWidth="64" tiff:ImageLength="48"'
    packet = XMP.replace(b'tiff:Orientation="6"', b'tiff:Orientation="%d" ' % orientation + told)
    full(tmp_path / f"in.{source}", exif=exif.tobytes()[6:], xmp=packet)
    for out in SOURCES:
        gpuimg.run(*KEEP, tmp_path / f"in.{source}", tmp_path / f"out.{out}")
        turned = orientation >= 5
        with Image.open(tmp_path / f"out.{out}") as image:
            image.load()
            width, height = image.size
            found, own = image.getexif(), image.getexif().get_ifd(EXIF_IFD)
            assert tuple(round(v) for v in image.info["dpi"]) == ((150, 300) if turned else (300, 150))
        assert (found[X_RESOLUTION], found[Y_RESOLUTION], found[UNIT]) == ((150, 300, 2) if turned else (300, 150, 2))
        assert (own[WIDTH], own[HEIGHT]) == (width, height) == ((48, 64) if turned else (64, 48))
        assert (own[FOCAL_X], own[FOCAL_Y]) == ((2000, 4000) if turned else (4000, 2000))
        xmp = next(ElementTree.fromstring(metadata_of(tmp_path / f"out.{out}")["xmp"]).iter(f"{RDF}Description")).attrib
        assert (xmp[TIFF + "ImageWidth"], xmp[TIFF + "ImageLength"]) == (str(width), str(height))
        for name in names:
            across, down = (xmp[(name % letter).replace("tiff:", TIFF).replace("exif:", EXIF)] for letter in "XY")
            assert (across, down) == (("9", "7") if turned else ("7", "9"))
        assert xmp[TIFF + "Orientation"] == "1"


# ---- what does not fit, and what is not kept ----------------------------------------------------------------------


def named_and_more(path):
    """The GUID that a JPEG's packet names, that of the parts, and what these hold."""
    packet = ElementTree.fromstring(metadata_of(path)["xmp"])
    named = next(packet.iter(f"{RDF}Description")).attrib["{http://ns.adobe.com/xmp/note/}HasExtendedXMP"].encode()
    text, guids = bytearray(), set()
    for code, body in segments_of(path.read_bytes()):
        if code == 0xE1 and body.startswith(MORE_NAME):
            full_size, at = struct.unpack(">II", body[len(MORE_NAME) + 32 : len(MORE_NAME) + 40])
            assert at == len(text)
            guids.add(body[len(MORE_NAME) : len(MORE_NAME) + 32])
            text += body[len(MORE_NAME) + 40 :]
    assert len(text) == full_size
    return named, guids, bytes(text)


@pytest.mark.parametrize("size", [65504, 65505, 130_000, 7_999_000])
def test_a_long_packet_goes_on_in_further_segments(gpuimg, size, tmp_path):
    """From a PNG to a JPEG, to another, and back: whole, and true of pixels that were turned."""
    long_xmp = XMP + b" " * (size - len(XMP))
    settled = long_xmp.replace(b'Orientation="6"', b'Orientation="1"')
    full(tmp_path / "in.png", xmp=long_xmp)
    source = tmp_path / "in.png"
    for name in ("a.jpg", "b.jpg"):
        done = gpuimg.run(*KEEP, "-v", source, tmp_path / name)
        assert "kept" not in done.stderr
        source = tmp_path / name
        if size == 65504:
            assert metadata_of(source)["xmp"] == settled
            continue
        named, guids, text = named_and_more(source)
        assert text == settled and guids == {named} == {hashlib.md5(text).hexdigest().upper().encode()}
    assert "kept" not in gpuimg.run(*KEEP, "-v", source, tmp_path / "out.png").stderr
    assert metadata_of(tmp_path / "out.png")["xmp"] == settled
    gpuimg.run(*KEEP, "--strip", source, tmp_path / "out.jpg")
    assert b"ns.adobe.com" not in (tmp_path / "out.jpg").read_bytes()


def test_more_xmp_is_made_true(gpuimg, tmp_path):
    """Where what it tells of the pixels stands in further segments."""
    text = PICTURES.replace(b"tiff:Make=", b'tiff:XResolution="7" tiff:Make=')
    jpeg_with(tmp_path / "in.jpg", IMAGE, (0xE1, b"Exif\0\0" + exif_block()), (0xE1, XMP_NAME + NAMES_MORE), *more_xmp(text))
    gpuimg.run(*KEEP, tmp_path / "in.jpg", tmp_path / "out.jpg")
    named, guids, kept = named_and_more(tmp_path / "out.jpg")
    found = next(ElementTree.fromstring(kept).iter(f"{RDF}Description")).attrib
    assert found[TIFF + "Orientation"] == "1" and found[TIFF + "YResolution"] == "7" and b"L2EgZmFjZS8" not in kept
    assert guids == {named} == {hashlib.md5(kept).hexdigest().upper().encode()}


def test_blocks_too_long_for_a_jpeg(gpuimg, tmp_path):
    long_exif = exif_block() + bytes(70_000)
    long_xmp = XMP + b" " * 70_000
    full(tmp_path / "in.png", exif=long_exif, xmp=long_xmp)
    done = gpuimg.run(*KEEP, "-v", tmp_path / "in.png", tmp_path / "out.jpg")
    assert "EXIF is longer" in done.stderr and "XMP" not in done.stderr
    kept = metadata_of(tmp_path / "out.jpg")
    assert not kept["exif"] and kept["icc"] == SRGB
    gpuimg.run(*KEEP, "--no-auto-orient", tmp_path / "in.png", tmp_path / "out.jpg")
    with Image.open(tmp_path / "out.jpg") as image:
        assert dict(image.getexif()) == {ORIENTATION: 6}
    gpuimg.run(*KEEP, tmp_path / "in.png", tmp_path / "out.png")
    kept = metadata_of(tmp_path / "out.png")
    assert len(kept["exif"]) == len(long_exif) and len(kept["xmp"]) == len(long_xmp)


def test_other_kinds_are_named(gpuimg, tmp_path):
    png_with(tmp_path / "in.png", IMAGE, chunk(b"tEXt", b"Comment\0hello"), chunk(b"tIME", bytes(7)),
             chunk(b"tEXt", b"Author\0me"), chunk(b"iTXt", b"Title\0\0\0\0\0x"))  # fmt: skip
    done = gpuimg.run(*KEEP, "-v", tmp_path / "in.png", tmp_path / "out.png")
    assert "not kept: tEXt, tIME, iTXt" in done.stderr
    jpeg_with(tmp_path / "in.jpg", IMAGE, (0xFE, b"hello"), (0xED, b"Photoshop 3.0\0"), (0xE2, b"MPF\0"))
    done = gpuimg.run(*KEEP, "-v", tmp_path / "in.jpg", tmp_path / "out.jpg")
    assert "not kept: COM, APP13, APP2" in done.stderr
    assert gpuimg.run("hist", "-v", tmp_path / "in.jpg").stderr.count("kept") == 0


def test_large_images_have_one_head(gpuimg, tmp_path):
    """JPEGs that are encoded in bands, with their metadata in the first."""
    image = np.tile(IMAGE, (40, 30, 1))
    full(tmp_path / "in.png", image, exif=exif_block(1))
    gpuimg.run(*KEEP, tmp_path / "in.png", tmp_path / "a.jpg")
    gpuimg.run(*KEEP, "--strip", tmp_path / "in.png", tmp_path / "b.jpg")
    with_all, without = (tmp_path / "a.jpg").read_bytes(), (tmp_path / "b.jpg").read_bytes()
    assert with_all.count(ICC_NAME) == 1 and with_all.endswith(without[20:])
    with Image.open(tmp_path / "a.jpg") as opened:
        opened.load()


def test_many_images_at_once(gpuimg, tmp_path):
    (tmp_path / "in").mkdir()
    for i in range(12):
        full(tmp_path / "in" / f"{i}.{SOURCES[i % 2]}", icc=profile(b"RGB ", 300 + i))
    gpuimg.run(*KEEP, "-j", 8, tmp_path / "in", tmp_path / "out")
    for i in range(12):
        assert metadata_of(tmp_path / "out" / f"{i}.{SOURCES[i % 2]}")["icc"] == profile(b"RGB ", 300 + i)


# ---- hostile files ------------------------------------------------------------------------------------------------


def measured(gpuimg, *arguments):
    """Processor seconds and peak memory in MiB of a run; from a small process, whose own memory does not count."""
    import subprocess
    import sys

    code = (
        "import resource, subprocess, sys; p = subprocess.run(sys.argv[1:]); "
        "u = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(p.returncode, u.ru_utime + u.ru_stime, u.ru_maxrss / 1024)"
    )
    line = [gpuimg.program, arguments[0], "--device", "cpu", "-j", "1", *map(str, arguments[1:])]
    done = subprocess.run([sys.executable, "-c", code, *line], capture_output=True, text=True, check=True, timeout=120)
    status, seconds, peak = done.stdout.split()[-3:]
    assert status == "0", done.stderr
    return float(seconds), float(peak), done.stderr


def is_sanitized(gpuimg):
    with open(gpuimg.program, "rb") as program:
        return b"__asan_init" in program.read()


def compressed_zeros(size, head=b""):
    packer = zlib.compressobj(9)
    out = packer.compress(head)
    for _ in range(size >> 20):
        out += packer.compress(bytes(1 << 20))
    return out + packer.flush()


def hostile(tmp_path):
    """(name, path, what is said under -v)."""
    size = 1 << 30
    head = struct.pack(">I", size) + profile(b"RGB ")[4:132]
    bomb = compressed_zeros(size, head)
    yield "profile", png_with(tmp_path / "1.png", IMAGE, chunk(b"iCCP", b"x\0\0" + bomb)), "8 MB"
    liar = struct.pack(">I", 200) + profile(b"RGB ")[4:132]
    lying = chunk(b"iCCP", b"x\0\0" + compressed_zeros(64 << 20, liar))
    yield "longer than it says", png_with(tmp_path / "2.png", IMAGE, lying), "longer"
    short = chunk(b"iCCP", b"x\0\0" + zlib.compress(struct.pack(">I", 8_000_000) + profile(b"RGB ")[4:]))
    yield "shorter", png_with(tmp_path / "3.png", IMAGE, short), "damaged"
    text = chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + compressed_zeros(256 << 20))
    yield "XMP", png_with(tmp_path / "4.png", IMAGE, text), "8 MB"
    yield "a large chunk", png_with(tmp_path / "5.png", IMAGE, chunk(b"eXIf", bytes(20 << 20))), "8 MB"
    yield "65536 chunks", png_with(tmp_path / "6.png", IMAGE, *[iccp(SRGB)] * 65536), ""
    yield "65536 segments", jpeg_with(tmp_path / "7.jpg", IMAGE, *[(0xE1, b"Exif\0\0" + exif_block())] * 65536), ""
    parts = [(0xE2, ICC_NAME + b"\1\2" + bytes(65000))] * 300
    yield "a part again and again", jpeg_with(tmp_path / "8.jpg", IMAGE, *parts), "damaged"
    large = icc_segments(profile(b"RGB ", 255 * 65519))
    yield "the largest profile", jpeg_with(tmp_path / "9.jpg", IMAGE, *large), "8 MB"
    lacking = icc_segments(profile(b"RGB ", 200_000))[:-1]
    yield "a part is missing", jpeg_with(tmp_path / "10.jpg", IMAGE, *lacking), "damaged"
    yield "part 0", jpeg_with(tmp_path / "11.jpg", IMAGE, (0xE2, ICC_NAME + b"\0\1" + SRGB)), "damaged"
    yield "half a head", jpeg_with(tmp_path / "12.jpg", IMAGE, (0xE2, ICC_NAME)), "damaged"
    loop = b"II*\0" + struct.pack("<IHHHII", 8, 1, EXIF_IFD, 4, 1, 8) + struct.pack("<I", 8)
    yield "directories in a ring", jpeg_with(tmp_path / "13.jpg", IMAGE, (0xE1, b"Exif\0\0" + loop)), ""
    far = b"II*\0" + struct.pack("<I", 0xFFFFFFF0)
    yield "a directory past the end", jpeg_with(tmp_path / "14.jpg", IMAGE, (0xE1, b"Exif\0\0" + far)), "damaged"


def test_hostile_metadata_is_bounded(gpuimg, tmp_path):
    write_png(tmp_path / "plain.png", IMAGE)
    seconds, peak, _ = measured(gpuimg, *KEEP, tmp_path / "plain.png", tmp_path / "out.png")
    slow = is_sanitized(gpuimg)
    for name, path, said in hostile(tmp_path):
        size = path.stat().st_size / (1 << 20)
        for out in SOURCES:
            took, used, text = measured(gpuimg, *KEEP, "-v", path, tmp_path / f"out.{out}")
            assert said in text, (name, text)
            assert slow or used <= peak + 2 * size + 40, (name, used, peak)
            assert slow or took <= seconds + 2, (name, took)
            with Image.open(tmp_path / f"out.{out}") as image:
                image.load()


@pytest.mark.parametrize("source", SOURCES)
def test_every_cut_and_flip_still_gives_the_pixels(gpuimg, source, tmp_path):
    """Metadata with single bytes changed, their CRCs right: the same pixels, or a file that is refused as a whole."""
    rng = np.random.default_rng(7)
    (tmp_path / "in").mkdir()
    image = IMAGE[:16, :16].copy()
    for i in range(150):
        exif, icc, xmp = bytearray(exif_block(1, thumbnail=b"x" * 40)), bytearray(profile(b"RGB ")), bytearray(XMP)
        for data in (exif, icc, xmp):
            for _ in range(int(rng.integers(1, 4))):
                data[int(rng.integers(min(len(data), 160)))] = int(rng.integers(256))
        cut = int(rng.integers(len(exif)))
        full(tmp_path / "in" / f"{i}.{source}", image, icc=bytes(icc), exif=bytes(exif[: cut if i % 3 else None]),
             xmp=bytes(xmp))  # fmt: skip
    gpuimg.run(*KEEP, "--no-auto-orient", tmp_path / "in", tmp_path / "out")
    full(tmp_path / f"plain.{source}", image, exif=exif_block(1))
    gpuimg.run(*KEEP, tmp_path / f"plain.{source}", tmp_path / f"out.{source}")
    with Image.open(tmp_path / f"out.{source}") as opened:
        expected = np.asarray(opened.convert("RGB"))
    for path in (tmp_path / "out").iterdir():
        data = path.read_bytes()
        metadata_of(path)
        with Image.open(io.BytesIO(data)) as opened:
            assert_same(np.asarray(opened.convert("RGB")), expected, path.name)


def test_pillows_own_files(gpuimg, tmp_path):
    """As Pillow writes them, text chunks and all."""
    about = PngImagePlugin.PngInfo()
    about.add_itxt("XML:com.adobe.xmp", XMP.decode())
    about.add_text("Comment", "hello")
    exif = Image.Exif()
    exif[MAKE], exif[ORIENTATION] = "a camera", 8
    Image.fromarray(IMAGE).save(tmp_path / "in.png", pnginfo=about, exif=exif, icc_profile=SRGB, dpi=(72, 72))
    Image.fromarray(IMAGE).save(tmp_path / "in.jpg", exif=exif, icc_profile=SRGB, dpi=(72, 72), comment=b"hello")
    for source in SOURCES:
        for out in SOURCES:
            gpuimg.run(*KEEP, tmp_path / f"in.{source}", tmp_path / f"out.{out}")
            with Image.open(tmp_path / f"out.{out}") as image:
                image.load()
                assert image.info["icc_profile"] == SRGB and tuple(round(v) for v in image.info["dpi"]) == (72, 72)
                assert dict(image.getexif()) == {MAKE: "a camera", ORIENTATION: 1}
                if source == "png" and out == "png":
                    assert "tiff:Orientation=\"1\"" in image.text["XML:com.adobe.xmp"]
