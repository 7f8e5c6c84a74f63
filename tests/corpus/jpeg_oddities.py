"""JPEG files that are odd in one thing each: segments of all kinds, places and contents, and scans cut up.

oddities() gives (name, file) of each, made from what Pillow, OpenCV and, where it is found, cjpeg write. Nothing here
says what a reader has to make of them: the tests that use them do.
"""
import io
import shutil
import struct
import subprocess

from make_corpus import jpeg, jpeg_with_restarts, scene, segment, tiff

SOI, EOI = b"\xff\xd8", b"\xff\xd9"
ADOBE = b"Adobe\0\x64\0\0\0\0"
JFIF = b"JFIF\0\1\1\0\0\1\0\1\0\0"


def split(data):
    """(code, bytes of the segment with its marker) of each up to EOI; a scan's data belong to its SOS."""
    at, parts = 2, []
    while data[at : at + 2] != EOI:
        end = at + 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
        code = data[at + 1]
        if code == 0xDA:
            while not (data[end] == 0xFF and data[end + 1] not in (0, *range(0xD0, 0xD8))):
                end += 1
        parts.append((code, data[at:end]))
        at = end
    return parts


def joined(parts, *, behind=b""):
    return SOI + b"".join(body for _, body in parts) + EOI + behind


def cjpeg(image, *options):
    """A file by cjpeg, or None where it is not installed or cannot do that."""
    program = shutil.which("cjpeg")
    if not program:
        return None
    ppm = io.BytesIO()
    image.save(ppm, "PPM")
    done = subprocess.run([program, *map(str, options)], input=ppm.getvalue(), capture_output=True)
    return done.stdout if done.returncode == 0 else None


SAMPLINGS = ("1x1", "2x1", "1x2", "2x2", "4x1", "1x4", "4x2", "2x4", "3x1", "1x3", "3x2", "2x3", "3x3", "4x4", "2x2,2x1,1x1",
             "2x2,1x2,2x1", "1x1,2x2,1x1", "1x2,2x1,1x1", "2x1,1x1,2x1", "4x1,2x1,1x1", "1x1,1x1,2x2", "3x2,1x1,1x2",
             "3x1,2x1,1x1", "4x2,1x1,1x1")


def by_cjpeg(image):
    for sampling in SAMPLINGS:
        for name, options in {"": (), "-progressive": ("-progressive",), "-arithmetic": ("-arithmetic",),
                              "-restart": ("-restart", "1B"), "-restart-rows": ("-restart", 1, "-progressive"),
                              "-both": ("-arithmetic", "-progressive")}.items():
            data = cjpeg(image, "-sample", sampling, *options)
            if data:
                yield f"sampling-{sampling.replace(',', '-')}{name}", data
    for name, options in {"rgb": ("-rgb",), "gray": ("-grayscale",), "quality-1": ("-quality", 1),
                          "quality-100": ("-quality", 100), "tables": ("-quality", "30,90,60"), "optimize": ("-optimize",),
                          "precise-tables": ("-quality", 3, "-precision", 8)}.items():
        data = cjpeg(image, *options)
        if data:
            yield f"cjpeg-{name}", data


def places(image):
    """Segments that must not matter, in every place before the first scan and behind the last."""
    parts = split(jpeg(image, quality=80))
    kinds = {"exif": segment(0xE1, b"Exif\0\0" + tiff(1, "II")), "comment": segment(0xFE, b"text"), "app0-other": segment(0xE0, b"x"),
             "app14-short": segment(0xEE, b"Adobe"), "app2": segment(0xE2, b"ICC_PROFILE\0\1\1"), "mpf": segment(0xE2, b"MPF\0MM\0*\0\0\0\x08"),
             "empty": segment(0xE5, b""), "long": segment(0xE6, bytes(65533)), "fill": b"\xff" * 7, "fill-1000": b"\xff" * 1000,
             "dri-0": segment(0xDD, b"\0\0"), "jfif": segment(0xE0, JFIF), "tem": b"\xff\x01", "rst": b"\xff\xd3",
             "dnl": segment(0xDC, struct.pack(">H", image.height)), "jpg0": segment(0xF0, b"x"), "jpg13": segment(0xFD, b"x"),
             "res": segment(0x02, b"x"), "exp": segment(0xDF, b"\x11"), "dhp": segment(0xDE, b"x"), "jpg": segment(0xC8, b"x"),
             "dac-empty": segment(0xCC, b""), "junk": b"junk", "zeros": bytes(5), "soi": SOI}
    for name, body in kinds.items():
        for place in range(len(parts) + 1):
            yield f"{name}-at-{place}", joined(parts[:place] + [(0, body)] + parts[place:])
        yield f"{name}-behind-eoi", joined(parts, behind=body)


def colours(image):
    """What tells colour: markers, identifiers, and what contradicts them."""
    data = jpeg(image, quality=85, subsampling=0)
    bare = [p for p in split(data) if p[0] != 0xE0]

    def renamed(names):
        out = []
        for code, body in bare:
            body = bytearray(body)
            if code in (0xC0, 0xC2):
                for i in range(3):
                    body[10 + 3 * i] = names[i]
            if code == 0xDA:
                for i in range(3):
                    body[5 + 2 * i] = names[i]
            out.append((code, bytes(body)))
        return out

    for name, ids in {"123": (1, 2, 3), "rgb": b"RGB", "012": (0, 1, 2), "bgr": b"BGR", "ycc": b"YCc", "255": (255, 254, 253),
                      "small-rgb": b"rgb", "012-gap": (0, 2, 4)}.items():
        for markers, first in {"none": b"", "jfif": segment(0xE0, JFIF), "adobe0": segment(0xEE, ADOBE + b"\0"),
                               "adobe1": segment(0xEE, ADOBE + b"\1"), "adobe2": segment(0xEE, ADOBE + b"\2"),
                               "adobe9": segment(0xEE, ADOBE + b"\x09"),
                               "jfif-adobe0": segment(0xE0, JFIF) + segment(0xEE, ADOBE + b"\0"),
                               "adobe0-adobe1": segment(0xEE, ADOBE + b"\0") + segment(0xEE, ADOBE + b"\1"),
                               "jfif-short": segment(0xE0, JFIF[:-1]),
                               "jfif-short-adobe0": segment(0xE0, JFIF[:-1]) + segment(0xEE, ADOBE + b"\0"),
                               "jfif-2": segment(0xE0, JFIF[:5] + b"\2" + JFIF[6:])}.items():
            yield f"colour-{name}-{markers}", SOI + first + joined(renamed(ids))[2:]
    inks = jpeg(image.convert("CMYK"), quality=85)
    place = inks.index(b"Adobe") + 11
    for transform in (0, 1, 2, 3, 255):
        yield f"inks-adobe{transform}", inks[:place] + bytes([transform]) + inks[place + 1 :]
    yield "inks-no-adobe", SOI + inks[inks.index(b"\xff\xdb") :]
    yield "inks-progressive", jpeg(image.convert("CMYK"), quality=85, progressive=True)
    gray = jpeg(image.convert("L"), quality=85)
    yield "gray-adobe", SOI + segment(0xEE, ADOBE + b"\1") + gray[2:]
    at = gray.index(b"\xff\xc0") + 11
    for h, v in ((2, 1), (1, 2), (2, 2), (4, 4), (3, 1), (1, 4)):
        yield f"gray-sampling-{h}x{v}", gray[:at] + bytes([h << 4 | v]) + gray[at + 1 :]


def scans(image):
    """Entropy-coded data with something before, in and behind."""
    kinds = {"baseline": jpeg(image, quality=85), "progressive": jpeg(image, quality=85, progressive=True),
             "restart": jpeg_with_restarts(image, 2), "restart-progressive": jpeg_with_restarts(image, 2, True)}
    for name, data in kinds.items():
        parts = split(data)
        first = next(i for i, (code, _) in enumerate(parts) if code == 0xDA)
        code, body = parts[first]
        for what, changed in {"fill-behind": body + b"\xff" * 5, "zeros-behind": body + bytes(9), "stuffed-behind": body + b"\xff\0",
                              "junk-behind": body + b"junk", "rst-behind": body + b"\xff\xd0", "rst-twice": body.replace(b"\xff\xd0", b"\xff\xd0\xff\xd0"),
                              "rst-lost": body.replace(b"\xff\xd1", b""), "rst-other": body.replace(b"\xff\xd1", b"\xff\xd4"),
                              "rst-filled": body.replace(b"\xff\xd0", b"\xff\xff\xff\xd0"), "half": body[: len(body) // 2],
                              "none": body[: 4 + body[3]], "twice": body + body, "junk-first": body[:14] + b"junk" + body[14:],
                              "stray-marker": body[: len(body) // 2] + b"\xff\x02\0\4ab" + body[len(body) // 2 :],
                              "comment-amid": body[: len(body) // 2] + segment(0xFE, b"text") + body[len(body) // 2 :],
                              "eoi-amid": body[: len(body) // 2] + EOI + body[len(body) // 2 :]}.items():
            yield f"scan-{name}-{what}", joined(parts[:first] + [(code, changed)] + parts[first + 1 :])
        for cut in (1, 2, 3, len(data) // 3, len(data) // 2):
            yield f"scan-{name}-cut-{cut}", data[:-cut]
        yield f"scan-{name}-eoi-twice", data + EOI
        yield f"scan-{name}-another-behind", data + data
        yield f"scan-{name}-thumbnail-behind", data + jpeg(image.resize((9, 7)))
        yield f"scan-{name}-amid-soi", joined(parts[: first + 1]) [:-2] + data
        yield f"scan-{name}-sof-behind", joined(parts + [p for p in parts if p[0] in (0xC0, 0xC2)])
        yield f"scan-{name}-tables-behind", joined(parts + [p for p in parts if p[0] in (0xC4, 0xDB)])
    dri = segment(0xDD, b"\0\1")
    parts = split(kinds["baseline"])
    yield "restart-told-none-there", joined([(0xDD, dri)] + parts)
    parts = split(kinds["restart"])
    yield "restart-not-told", joined([p for p in parts if p[0] != 0xDD])
    yield "restart-65535", joined([(c, segment(0xDD, b"\xff\xff")) if c == 0xDD else (c, b) for c, b in parts])
    yield "restart-length-5", joined([(c, segment(0xDD, b"\0\2\0")) if c == 0xDD else (c, b) for c, b in parts])


def containers(image):
    """Several images in one file."""
    file = io.BytesIO()
    image.save(file, "MPO", save_all=True, append_images=[image.resize((20, 15))])
    yield "mpo", file.getvalue()
    thumbnail = jpeg(image.resize((9, 7)))
    block = tiff(1, "MM")[:-4] + struct.pack(">I", 26) + struct.pack(">HHHIIHHIII", 2, 0x201, 4, 1, 56, 0x202, 4, 1, len(thumbnail), 0)
    yield "thumbnail-in-exif", SOI + segment(0xE1, b"Exif\0\0" + block + thumbnail) + jpeg(image)[2:]
    yield "png-behind", jpeg(image) + b"\x89PNG\r\n\x1a\n" + bytes(30)
    yield "zip-behind", jpeg(image) + b"PK\3\4" + bytes(100)


def frames(image):
    """Frame and scan headers and tables with one field wrong."""
    for kind, progressive in (("baseline", False), ("progressive", True)):
        parts = split(jpeg(image, quality=85, progressive=progressive))
        for i, (code, body) in enumerate(parts):
            size = len(body) if code != 0xDA else 4 + body[3]
            if code not in (0xC0, 0xC2, 0xDA, 0xDB, 0xC4, 0xE0) or any(c == code for c, _ in parts[:i]):
                continue
            for at in range(1, min(size, 26)):
                for value in {0, 1, 2, 255, body[at] ^ 1, body[at] + 1 & 255, body[at] << 4 & 255, body[at] | 0x80}:
                    if value != body[at]:
                        changed = body[:at] + bytes([value]) + body[at + 1 :]
                        yield f"field-{kind}-{code:x}-{at}-{value}", joined(parts[:i] + [(code, changed)] + parts[i + 1 :])
            yield f"without-{kind}-{code:x}", joined(parts[:i] + parts[i + 1 :])
            yield f"twice-{kind}-{code:x}", joined(parts[: i + 1] + parts[i:])
            yield f"last-{kind}-{code:x}", joined(parts[:i] + parts[i + 1 :] + [parts[i]])


def oddities():
    image = scene(41, 35)
    for part in (by_cjpeg, places, colours, scans, containers, frames):
        yield from part(image)
