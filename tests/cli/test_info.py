"""info FILE: what Pillow and a walk over chunks and segments know of the same files; damage; directories; JSON."""

import io
import json
import pathlib
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest
from PIL import Image, ImageCms

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "oracle"))

from oracle_images import smooth_image, write_png  # noqa: E402

PIXELS = smooth_image((61, 47))
SRGB = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))


def told(gpuimg, *arguments, expect=0):
    result = gpuimg("info", *map(str, arguments))
    assert result.code == expect, result
    return result


def info(gpuimg, *arguments, expect=0):
    document = json.loads(told(gpuimg, "--json", *arguments, expect=expect).text)
    assert document["schema"] == 1
    return document["images"]


def one(gpuimg, path, *arguments):
    (image,) = info(gpuimg, *arguments, path)
    assert image["file"] == str(path)
    return image


@pytest.mark.parametrize("quality", range(1, 101))
def test_quality_is_libjpegs(gpuimg, quality, tmp_path):
    path = tmp_path / "a.jpg"
    for pixels in (PIXELS[:16, :16], PIXELS[:16, :16, 0]):
        Image.fromarray(np.ascontiguousarray(pixels)).save(path, quality=quality)
        image = one(gpuimg, path, "--quick")
        assert (image["quality"], image["quality_exact"]) == (quality, True)


def test_quality_of_other_tables(gpuimg, tmp_path):
    """Those of 80, each entry a little off."""
    with_80 = io.BytesIO()
    Image.fromarray(PIXELS).save(with_80, "JPEG", quality=80)
    tables = {k: [min(255, v + (i % 5 == 0)) for i, v in enumerate(t)]
              for k, t in Image.open(with_80).quantization.items()}  # fmt: skip
    Image.fromarray(PIXELS).save(tmp_path / "a.jpg", qtables=tables)
    image = one(gpuimg, tmp_path / "a.jpg")
    assert 78 <= image["quality"] <= 80 and not image["quality_exact"]
    assert "quality     about" in told(gpuimg, tmp_path / "a.jpg").text


@pytest.mark.parametrize("name, sampling", [("4:4:4", 0), ("4:2:2", 1), ("4:2:0", 2)])
@pytest.mark.parametrize("progressive", [False, True])
def test_sampling_and_coding(gpuimg, name, sampling, progressive, tmp_path):
    Image.fromarray(PIXELS).save(tmp_path / "a.jpg", subsampling=sampling, progressive=progressive)
    image = one(gpuimg, tmp_path / "a.jpg")
    assert (image["format"], image["colour"], image["sampling"]) == ("JPEG", "YCbCr", name)
    assert (image["width"], image["height"], image["bits"], image["channels"]) == (61, 47, 8, 3)
    assert image["progressive"] == progressive and not image["interlaced"] and not image["arithmetic"]
    assert image["bytes"] == (tmp_path / "a.jpg").stat().st_size
    text = told(gpuimg, tmp_path / "a.jpg").text
    assert f"YCbCr {name}" in text and ("progressive" in text) == progressive and "damage      none" in text


def test_odd_sampling(gpuimg, tmp_path):
    """Factors as no name has them, written over those of a sound file; and the names of rarer ones."""
    Image.fromarray(PIXELS[:16, :16].copy()).save(tmp_path / "a.jpg", subsampling=0)
    data = bytearray((tmp_path / "a.jpg").read_bytes())
    frame = data.index(b"\xff\xc0")
    for factors, name in (((0x41, 0x11, 0x11), "4:1:1"), ((0x12, 0x11, 0x11), "4:4:0"), ((0x42, 0x11, 0x11), "4:1:0"),
                          ((0x22, 0x21, 0x11), "2x2 2x1 1x1")):  # fmt: skip
        for i, factor in enumerate(factors):
            data[frame + 11 + 3 * i] = factor
        (tmp_path / "a.jpg").write_bytes(data)
        assert one(gpuimg, tmp_path / "a.jpg", "--quick")["sampling"] == name


def test_modes(gpuimg, tmp_path):
    rgb = Image.fromarray(PIXELS)
    for mode, colour, bits, channels in (("1", "gray", 1, 1), ("L", "gray", 8, 1), ("LA", "gray+alpha", 8, 2),
                                         ("P", "palette", 8, 3), ("RGB", "RGB", 8, 3), ("RGBA", "RGBA", 8, 4),
                                         ("I;16", "gray", 16, 1)):  # fmt: skip
        made = Image.fromarray(PIXELS[..., 0].astype(np.uint16)) if mode == "I;16" else rgb.convert(mode)
        made.save(tmp_path / "a.png")
        image = one(gpuimg, tmp_path / "a.png")
        assert (image["colour"], image["bits"], image["channels"]) == (colour, bits, channels)
        assert image["sampling"] is image["quality"] is image["quality_exact"] is None
    for mode, colour in (("L", "gray"), ("CMYK", "CMYK")):
        rgb.convert(mode).save(tmp_path / "a.jpg")
        assert one(gpuimg, tmp_path / "a.jpg")["colour"] == colour


def chunk(name, body=b""):
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def test_metadata(gpuimg, tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    profile = SRGB.tobytes()
    for name in ("a.png", "a.jpg"):
        Image.fromarray(PIXELS).save(tmp_path / name, exif=exif, icc_profile=profile, dpi=(300, 300))
        image = one(gpuimg, tmp_path / name)
        assert (image["width"], image["height"], image["orientation"]) == (61, 47, 6)  # as stored
        assert image["profile"] == {"name": ImageCms.getProfileDescription(SRGB).strip(), "space": "RGB",
                                    "bytes": len(profile)}  # fmt: skip
        assert image["exif"] > 20 and image["xmp"] == 0
        assert image["density"] == ({"x": 300, "y": 300, "unit": "inch"} if name == "a.jpg" else
                                    {"x": 11811, "y": 11811, "unit": "metre"})  # fmt: skip
    text = told(gpuimg, tmp_path / "a.jpg").text
    assert "300x300 per inch" in text and "profile     sRGB built-in (RGB," in text and "orientation 6" in text
    write_png(tmp_path / "b.png", PIXELS)
    data = (tmp_path / "b.png").read_bytes()
    more = chunk(b"gAMA", struct.pack(">I", 45455)) + chunk(b"sRGB", b"\2") + chunk(b"cICP", bytes([9, 16, 0, 1]))
    more += chunk(b"cHRM", struct.pack(">8I", *range(1, 9)))
    (tmp_path / "b.png").write_bytes(data[:33] + more + data[33:])
    image = one(gpuimg, tmp_path / "b.png")
    assert (image["gamma"], image["srgb"], image["cicp"]) == (0.45455, 2, [9, 16, 0, 1])
    assert image["primaries"] == list(range(1, 9)) and image["density"] is image["profile"] is None
    assert "sRGB, gAMA 0.45455, cHRM, cICP 9/16/0/1" in told(gpuimg, tmp_path / "b.png").text


def test_what_a_jpeg_alone_has(gpuimg, tmp_path):
    guid = b"0123456789ABCDEF" * 2
    xmp = b"http://ns.adobe.com/xap/1.0/\0xmpNote:HasExtendedXMP='" + guid + b"'"
    more = b"http://ns.adobe.com/xmp/extension/\0" + guid + struct.pack(">II", 7, 0) + b"further"
    path = made(tmp_path / "a.jpg", (0xE1, xmp), (0xE1, more), (0xED, b"Photoshop 3.0\0" + b"8BIM\4\4\0\0\0\0\0\4abcd"))
    image = one(gpuimg, path)
    assert (image["xmp"], image["xmp_extended"], image["iptc"], image["damage"]) == (len(xmp) - 29, 7, 4, [])
    text = told(gpuimg, path).text
    assert "more XMP    7 bytes" in text and "IPTC        4 bytes" in text
    assert [one(gpuimg, made(tmp_path / "a.png"))[key] for key in ("xmp_extended", "iptc")] == [0, 0]


def test_damage(gpuimg, tmp_path):
    noise = np.random.default_rng(3).integers(0, 256, (64, 64, 3), np.uint8)
    Image.fromarray(noise).save(tmp_path / "a.jpg", quality=95)
    data = (tmp_path / "a.jpg").read_bytes()
    (tmp_path / "a.jpg").write_bytes(data[: len(data) // 2])
    image = one(gpuimg, tmp_path / "a.jpg")
    assert image["checked"] and image["error"] is None
    assert len(image["damage"]) == 1 and "cut short" in image["damage"][0]
    # What only decoding finds.
    scan = data.index(b"\xff\xda")
    (tmp_path / "b.jpg").write_bytes(data[: scan + 400] + data[-2:])
    assert one(gpuimg, tmp_path / "b.jpg", "--quick")["damage"] == []
    assert not one(gpuimg, tmp_path / "b.jpg", "--quick")["checked"]
    assert "ends early" in one(gpuimg, tmp_path / "b.jpg")["damage"][0]
    assert "damage      not looked for" in told(gpuimg, "--quick", tmp_path / "b.jpg").text
    assert "ends early" in told(gpuimg, tmp_path / "b.jpg").text
    # What fails is named on standard error, too, and told with what is known.
    write_png(tmp_path / "c.png", noise)
    data = bytearray((tmp_path / "c.png").read_bytes())
    data[-40] ^= 1
    (tmp_path / "c.png").write_bytes(data)
    done = told(gpuimg, "--json", tmp_path / "c.png", expect=1)
    (image,) = json.loads(done.text)["images"]
    assert "CRC" in image["error"] and image["width"] == 64
    assert "CRC" in done.err and "c.png" in done.err
    assert "CRC" in told(gpuimg, tmp_path / "c.png", expect=1).text
    assert one(gpuimg, tmp_path / "c.png", "--quick")["error"] is None


SIZE = (61, 47)


def icc(tag_at=144):
    """A profile of RGB with one tag of 8 bytes."""
    head = struct.pack(">I4sI4s4s4s", 152, b"test", 0x02100000, b"mntr", b"RGB ", b"XYZ ").ljust(128, b"\0")
    return head[:36] + b"acsp" + head[40:] + struct.pack(">I4sII", 1, b"wtpt", tag_at, 8) + bytes(8)


def tiff(value_at=26):
    """One entry, of a text of 8 bytes."""
    return struct.pack("<2sHIHHHIII", b"II", 42, 8, 1, 0x010F, 2, 8, value_at, 0) + b"a maker\0"


FLAWS = {
    "png": [
        ((chunk(b"iCCP", b"a\0\0" + zlib.compress(icc())[:-6]),), "the ICC profile is damaged"),
        ((chunk(b"iCCP", b"a\0\0" + zlib.compress(icc()[:-1])),), "the ICC profile is damaged"),
        ((chunk(b"iCCP", b"a\0\0" + zlib.compress(icc() + b"x")),), "the ICC profile is longer than it says"),
        ((chunk(b"iCCP", b"a\0\0" + zlib.compress(icc(tag_at=145))),), "some of its tags lie past its end"),
        ((chunk(b"eXIf", b"no TIFF at all"),), "EXIF is damaged: not kept"),
        ((chunk(b"eXIf", tiff(value_at=27)),), "EXIF is damaged: some of its values lie past its end"),
        ((chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + b"no stream"),), "XMP is damaged"),
        ((chunk(b"gAMA", bytes(4)), chunk(b"pHYs", bytes(8))), "out of place, and not kept: gAMA, pHYs"),
        ((chunk(b"iCCP", b""), chunk(b"sRGB", b"\4")), "out of place, and not kept: iCCP, sRGB"),
    ],
    "jpg": [
        (((0xE2, b"ICC_PROFILE\0\1\1" + icc()[:-1]),), "the ICC profile is damaged"),
        (((0xE2, b"ICC_PROFILE\0\1\2" + icc()),), "the ICC profile is damaged"),
        (((0xE2, b"ICC_PROFILE\0\1\1" + icc(tag_at=145)),), "some of its tags lie past its end"),
        (((0xE1, b"Exif\0\0no TIFF at all"),), "EXIF is damaged: not kept"),
        (((0xE1, b"Exif\0\0" + tiff(value_at=27)),), "EXIF is damaged: some of its values lie past its end"),
    ],
}
SOUND = {
    "png": (chunk(b"iCCP", b"a\0\0" + zlib.compress(icc())), chunk(b"eXIf", tiff()), chunk(b"gAMA", bytes([0, 0, 1, 0]))),
    "jpg": ((0xE2, b"ICC_PROFILE\0\1\1" + icc()), (0xE1, b"Exif\0\0" + tiff())),
}


def made(path, *more, behind=b""):
    """An image with chunks or segments behind its head, and bytes behind its end."""
    if path.suffix == ".png":
        write_png(path, PIXELS)
        data, at = path.read_bytes(), 33
    else:
        Image.fromarray(PIXELS).save(path)
        data, at = path.read_bytes(), 20
        more = [struct.pack(">BBH", 0xFF, code, len(body) + 2) + body for code, body in more]
    path.write_bytes(data[:at] + b"".join(more) + data[at:] + behind)
    return path


@pytest.mark.parametrize("kind", ("png", "jpg"))
def test_damage_beside_the_pixels(gpuimg, kind, tmp_path):
    """Told as damage, and by a run under -v; what is sound has none."""
    path = made(tmp_path / f"a.{kind}", *SOUND[kind])
    image = one(gpuimg, path)
    assert image["damage"] == [] and image["profile"]["bytes"] == 152 and image["exif"] == 34
    for more, text in FLAWS[kind]:
        made(path, *more)
        for quick in ((), ("--quick",)):
            (told_of,) = one(gpuimg, path, *quick)["damage"]
            assert text in told_of
            assert text in " ".join(told(gpuimg, path, *quick).text.split())
        done = gpuimg("threshold", "-v", path, tmp_path / "out.png")
        assert done.code == 0 and text in done.err
        assert gpuimg("threshold", "--strict", path, tmp_path / "out.png").err == ""


def test_what_follows_the_image(gpuimg, tmp_path):
    """Junk is damage; a further image, as cameras write them, is not."""
    other = made(tmp_path / "other.jpg").read_bytes()
    for kind, behind, damaged in (("png", b"junk", True), ("png", b"\0", True), ("jpg", b"junk", True), ("jpg", b"\0\0", True),
                                  ("jpg", other, False)):  # fmt: skip
        path = made(tmp_path / f"a.{kind}", behind=behind)
        assert len(one(gpuimg, path, "--quick")["damage"]) == damaged
        count = "1 byte" if len(behind) == 1 else f"{len(behind)} bytes"
        be = "is" if len(behind) == 1 else "are"
        text = f"{count} after the end of the {'PNG' if kind == 'png' else 'JPEG'} {be} ignored"
        assert (text in told(gpuimg, path).text) == damaged
        done = gpuimg("threshold", "-v", path, tmp_path / "out.png")
        assert done.code == 0 and text in done.err and ("another begins" in done.err) != damaged
    # More compressed data than the pixels need, which only decoding finds.
    data = made(tmp_path / "a.png").read_bytes()
    at = data.index(b"IDAT")
    (size,) = struct.unpack(">I", data[at - 4 : at])
    body = zlib.compress(zlib.decompress(data[at + 4 : at + 4 + size]) + b"x")
    (tmp_path / "a.png").write_bytes(data[: at - 4] + chunk(b"IDAT", body) + data[at + 8 + size :])
    assert one(gpuimg, tmp_path / "a.png")["damage"] == ["more compressed data than the image needs"]


@pytest.mark.parametrize("name", (b"tEXt", b"iCCP", b"eXIf", b"gAMA"))
def test_a_chunk_whose_crc_is_wrong(gpuimg, name, tmp_path):
    path = made(tmp_path / "a.png", chunk(name, b"a\0" + tiff())[:-1] + b"!")
    (image,) = info(gpuimg, path, expect=1)
    assert image["width"] == SIZE[0] and f"chunk {name.decode()} at byte 33: its CRC" in image["error"]


def test_a_damaged_png_is_told_as_stored(gpuimg, tmp_path):
    turned = struct.pack("<2sHIHHHIII", b"II", 42, 8, 1, 0x0112, 3, 1, 6, 0)
    data = made(tmp_path / "a.png", chunk(b"eXIf", turned)).read_bytes()
    assert (one(gpuimg, tmp_path / "a.png")["width"], one(gpuimg, tmp_path / "a.png")["orientation"]) == (SIZE[0], 6)
    (tmp_path / "a.png").write_bytes(data[:-3])
    (image,) = info(gpuimg, tmp_path / "a.png", expect=1)
    assert (image["width"], image["height"], image["orientation"]) == (*SIZE, 6)


def test_a_png_that_no_decoder_opens(gpuimg, tmp_path):
    """What its header says is told, and the damage; as of a cut JPEG, but with exit status 1."""
    write_png(tmp_path / "a.png", PIXELS)
    data = (tmp_path / "a.png").read_bytes()
    (tmp_path / "a.png").write_bytes(data[: len(data) // 2])
    (image,) = info(gpuimg, tmp_path / "a.png", expect=1)
    assert (image["format"], image["width"], image["height"], image["bits"]) == ("PNG", 61, 47, 8)
    assert image["bytes"] == len(data) // 2 and not image["checked"] and "ends within" in image["error"]
    text = told(gpuimg, tmp_path / "a.png", expect=1).text
    assert "61x47" in text and "RGB" in text and max(map(len, text.splitlines()[1:])) <= 80
    assert "damage      damaged PNG: " in text
    for size in (4, 20):  # not even a header
        (tmp_path / "a.png").write_bytes(data[:size])
        (image,) = info(gpuimg, tmp_path / "a.png", expect=1)
        assert set(image) == {"file", "error"}


def test_a_jpeg_that_no_decoder_opens(gpuimg, tmp_path):
    """What its frame header says is told, whatever keeps it from being decoded."""
    Image.fromarray(PIXELS).save(tmp_path / "sound.jpg", quality=70, subsampling=1)
    data = (tmp_path / "sound.jpg").read_bytes()
    sof, dht = data.index(b"\xff\xc0"), data.index(b"\xff\xc4")

    def changed(at, *values):
        return data[:at] + bytes(values) + data[at + len(values) :]

    usual = {"width": 61, "height": 47, "bits": 8, "colour": "YCbCr", "quality": 70, "sampling": "4:2:2", "progressive": False}
    for file, reason, facts in (
            (changed(sof + 4, 12), "12-bit JPEG is not supported", {"bits": 12, "sampling": None}),
            (changed(sof + 1, 0xC3), "lossless JPEG is not supported", {"sampling": None}),
            (changed(sof + 1, 0xC6), "hierarchical JPEG is not supported", {"progressive": True, "sampling": None}),
            (changed(sof + 5, 0xFF, 0xFF, 0xFF, 0xFF), "more than the limit", {"width": 65535, "height": 65535}),
            (changed(dht + 4, 0x55), "segment DHT at byte", {}),
            (changed(sof + 11, 0x51), "a sampling factor is not 1 to 4", {"sampling": None}),
            (data[: data.index(b"\xff\xda")], "before any image data", {})):  # fmt: skip
        (tmp_path / "a.jpg").write_bytes(file)
        (image,) = info(gpuimg, tmp_path / "a.jpg", expect=1)
        assert reason in image["error"] and image["format"] == "JPEG" and not image["checked"], image
        assert {key: image[key] for key in usual} == {**usual, **facts}
        assert reason in " ".join(told(gpuimg, tmp_path / "a.jpg", expect=1).text.split())
    for file in (data[:sof], changed(sof + 7, 0, 0), changed(sof + 9, 2)):  # no header, or none that tells of an image
        (tmp_path / "a.jpg").write_bytes(file)
        (image,) = info(gpuimg, tmp_path / "a.jpg", expect=1)
        assert set(image) == {"file", "error"}


def test_arrays(gpuimg, tmp_path):
    for name, array, line in (("a.npy", np.zeros((3, 4), "<f4"), "12 of float32, little-endian"),
                              ("b.npy", np.asfortranarray(np.zeros((5, 2), ">i8")), "10 of int64, big-endian"),
                              ("c.npy", np.array(7, "u1"), "1 of uint8\n"), ("d.npy", np.zeros((0, 3)), "0 of float64")):
        np.save(tmp_path / name, array)
        text = told(gpuimg, tmp_path / name).text
        assert line in text and "NPY, " in text
        image = one(gpuimg, tmp_path / name)
        assert (image["shape"], image["count"], image["element"]) == (list(array.shape), array.size, array.dtype.name)
        assert image["order"] == ("Fortran" if name == "b.npy" else "C") and image["error"] is None
        assert image["byte_order"] == {"a": "little", "b": "big", "c": None, "d": "little"}[name[0]]
        assert image["bytes"] == (tmp_path / name).stat().st_size
        for options in ([], ["--quick"]):
            (image,) = info(gpuimg, *options, tmp_path / name)
            assert (image["damage"], image["checked"]) == ([], True)
            assert "damage      none\n" in told(gpuimg, *options, tmp_path / name).text
    data = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(data[:-1])
    (image,) = info(gpuimg, tmp_path / "a.npy", expect=1)
    assert image["shape"] == [3, 4] and "ends after" in image["error"]
    np.save(tmp_path / "e.npy", np.zeros(3, complex))
    (image,) = info(gpuimg, tmp_path / "e.npy", expect=1)
    assert set(image) == {"file", "error"} and "c16" in image["error"]


def test_files_that_are_none(gpuimg, tmp_path):
    (tmp_path / "a.txt").write_text("hello, world\n")
    write_png(tmp_path / "b.png", PIXELS)
    first, second, third = info(gpuimg, tmp_path / "a.txt", tmp_path / "b.png", tmp_path / "no.png", expect=1)
    assert set(first) == {"file", "error"} and first["error"] == "neither .npy nor PNG nor JPEG"
    assert second["error"] is None and "No such file" in third["error"]
    text = told(gpuimg, tmp_path / "a.txt", expect=1)
    assert text.text == ""


def test_what_info_does_not_do_is_refused(gpuimg, tmp_path):
    """It decodes on the CPU, and without a file there is nothing to decode."""
    write_png(tmp_path / "a.png", PIXELS)
    for device in ("auto", "cpu"):
        err = gpuimg.refused("info", "--codec", "nvjpeg", "a.png", env={"GPUIMG_DEVICE": device}).err
        assert "--codec nvjpeg is for pipelines: this command decodes images on the CPU" in err
    gpuimg.ok("info", "--codec", "auto-fast", "a.png")
    for option in (["--codec", "stb"], ["--json"], ["--quick"], ["-r"], ["--max-pixels", "9"]):
        assert "is for files: name one" in gpuimg.refused("info", *option).err


def test_directories_and_lists(gpuimg, tmp_path):
    (tmp_path / "d" / "e").mkdir(parents=True)
    for name in ("d/2.png", "d/1.png", "d/e/3.png"):
        write_png(tmp_path / name, PIXELS)
    (tmp_path / "d" / "notes.txt").write_text("no image")
    names = [pathlib.Path(i["file"]).name for i in info(gpuimg, tmp_path / "d")]
    assert names == ["1.png", "2.png"]
    assert len(info(gpuimg, "-r", tmp_path / "d")) == 3
    (tmp_path / "list").write_text(f"{tmp_path}/d/2.png\n{tmp_path}/d/e/3.png\n")
    assert len(info(gpuimg, "--files-from", tmp_path / "list")) == 2
    (tmp_path / "empty").mkdir()
    assert info(gpuimg, tmp_path / "empty") == []


def test_hostile_names_and_sizes(gpuimg, tmp_path):
    name = "a\x1b[31m\n.png"
    write_png(tmp_path / name, PIXELS)
    text = told(gpuimg, tmp_path / name).text
    assert "\x1b" not in text and "\\n.png" in text
    assert one(gpuimg, tmp_path / name)["width"] == 61
    (image,) = info(gpuimg, "--max-pixels", 100, tmp_path / name, expect=1)
    assert "--max-pixels" in image["error"]


def test_usage(gpuimg):
    for arguments in (("--json",), ("--quick",), ("-0", "a.png"), ("--quality", "3", "a.png"), ("--device", "cpu")):
        gpuimg.refused("info", *arguments)
    gpuimg.refused("help", "--json")
    gpuimg.refused("gray", "--json", "a.png", "b.png")


@pytest.mark.parametrize("limits", [(), ("--max-pixels", "1000")])
def test_a_large_file_that_is_refused(gpuimg, tmp_path, limits):
    """Files of a megabyte and more are not read whole: what they are is told all the same, and those behind them."""
    noise = np.random.default_rng(1).integers(0, 256, (900, 900, 3), np.uint8)
    Image.fromarray(noise).save(tmp_path / "a.png")
    Image.fromarray(noise[:10, :10]).save(tmp_path / "b.png")
    if not limits:
        data = bytearray((tmp_path / "a.png").read_bytes())
        data[-8:] = data[12:16] + data[-4:]  # a second IHDR in the place of IEND
        data[24] = 5  # no depth
        (tmp_path / "a.png").write_bytes(data)
    assert (tmp_path / "a.png").stat().st_size > 1 << 20
    first, second = info(gpuimg, *limits, tmp_path, expect=1)
    assert second["width"] == 10 and "error" in first
    assert bool(limits) == (first.get("width") == 900), first


def test_a_pipe_with_a_name(gpuimg, tmp_path):
    """Nothing is read of it and then missed."""
    Image.fromarray(smooth_image((90, 70))).save(tmp_path / "a.png")
    for _ in range(5):
        line = f"'{gpuimg.path}' info --json <(cat '{tmp_path}/a.png')"
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and json.loads(done.stdout)["images"][0]["width"] == 90, done.stderr
