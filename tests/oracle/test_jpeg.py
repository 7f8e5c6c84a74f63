"""JPEG by libjpeg-turbo: pixels exactly as Pillow decodes and encodes them, which uses the same library on this system.

`blur --radius 0` leaves pixels as they are, so that a JPEG becomes a PNG of what was decoded, and a PNG a JPEG.
"""
import io
import os
import shutil
import subprocess

import cv2
import numpy as np
import pytest
from PIL import Image, features

from oracle_images import write_png

SIZES = ((1, 1), (15, 1), (1, 15), (17, 31), (800, 701))
LARGE = (2100, 1031)  # over 2 Mpixel, which are written in bands
PILLOW_SUBSAMPLING = {"444": 0, "422": 1, "420": 2}


@pytest.fixture(autouse=True)
def needs_turbo():
    about = subprocess.run([os.environ["GPUIMG"], "info"], capture_output=True, text=True, check=True).stdout
    if " libjpeg-turbo " not in about.split("\nmissing")[0]:
        pytest.skip("built without libjpeg-turbo")
    if not features.check_feature("libjpeg_turbo"):
        pytest.skip("Pillow has another JPEG library")


def scene(width, height, channels=3):
    """Smooth colours, an edge and noise."""
    y, x = np.mgrid[0:height, 0:width]
    colours = np.stack([128 + 100 * np.sin(x / 9), 128 + 100 * np.cos(y / 7), (x * 3 + y) % 256], -1)
    colours[:, width // 2 :] = 255 - colours[:, width // 2 :]
    noise = np.random.default_rng(width * height).integers(-9, 10, colours.shape)
    image = np.clip(colours + noise, 0, 255).astype(np.uint8)
    return image if channels == 3 else np.ascontiguousarray(image[..., 0])


def saved(pixels, **options):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", **options)
    return file.getvalue()


def opened(data):
    return np.array(Image.open(io.BytesIO(data)))


def scenes(sizes):
    """By names that tell them apart, gray and in colour: one run of the program does them all."""
    return {"%dx%d-%d" % (*size, channels): scene(*size, channels) for size in sizes for channels in (1, 3)}


def decoded(gpuimg, files, *command):
    """The pixels that one run makes of JPEG files, by their names without an extension."""
    source, target = gpuimg.folder / "jpegs", gpuimg.folder / ("-".join(command) + " of jpegs")
    source.mkdir(exist_ok=True)
    for name, data in files.items():
        (source / (name + ".jpg")).write_bytes(data)
    gpuimg.run(*command, "--strict", "--png-level", 1, "--format", "png", source, target)
    return {name: np.array(Image.open(target / (name + ".png"))) for name in files}


def encoded(gpuimg, images, *options):
    """The JPEG files that one run makes of images, by their names."""
    source, target = gpuimg.folder / "pngs", gpuimg.folder / " ".join(map(str, ("made", *options)))
    source.mkdir(exist_ok=True)
    for name, pixels in images.items():
        write_png(source / (name + ".png"), pixels)
    gpuimg.run("blur", "--radius", 0, "--format", "jpg", *options, source, target)
    return {name: (target / (name + ".jpg")).read_bytes() for name in images}


def test_decoded_as_by_pillow(gpuimg):
    files = {}
    for name, pixels in scenes(SIZES).items():
        for progressive in (False, True):
            for subsampling in (0, 1, 2) if pixels.ndim == 3 else (0,):
                full = f"{name}-{progressive}-{subsampling}"
                files[full] = saved(pixels, quality=87, subsampling=subsampling, progressive=progressive)
    pixels, luma = decoded(gpuimg, files, "blur", "--radius", "0"), decoded(gpuimg, files, "gray")
    for name, data in files.items():
        assert (pixels[name] == opened(data)).all(), name
        image = Image.open(io.BytesIO(data))
        image.draft("L", image.size)
        assert (luma[name] == np.array(image)).all(), name


def test_restart_markers_as_by_pillow(gpuimg):
    files = {}
    for progressive in (0, 1):
        for interval in (1, 7, 100):
            options = [cv2.IMWRITE_JPEG_RST_INTERVAL, interval, cv2.IMWRITE_JPEG_PROGRESSIVE, progressive]
            data = cv2.imencode(".jpg", scene(800, 701), options)[1].tobytes()
            assert b"\xff\xd0" in data
            files[f"{interval}-{progressive}"] = data
    for name, pixels in decoded(gpuimg, files, "blur", "--radius", "0").items():
        assert (pixels == opened(files[name])).all(), name


@pytest.mark.parametrize("progressive", (False, True))
def test_cut_files_as_by_pillow(gpuimg, progressive):
    """What a cut file lacks looks the same, and the rest, too."""
    data = saved(scene(800, 701), quality=87, progressive=progressive)
    data = data[: len(data) * 6 // 10] + b"\xff\xd9"
    source, target = gpuimg.folder / "in.jpg", gpuimg.folder / "out.png"
    source.write_bytes(data)
    ran = gpuimg.run("blur", "--radius", 0, source, target)
    assert ran.stderr.count("damaged JPEG") == 1, ran.stderr
    assert (np.array(Image.open(target)) == opened(data)).all()


@pytest.mark.parametrize("words", ((), ("--optimize",), ("--progressive",)), ids=" ".join)
@pytest.mark.parametrize("subsampling", PILLOW_SUBSAMPLING)
def test_encoded_as_by_pillow(gpuimg, subsampling, words):
    """Files of one piece have Pillow's very bytes; larger ones its pixels."""
    images = scenes(((1, 1), (17, 31), (640, 427), LARGE))
    files = encoded(gpuimg, images, "--quality", 83, "--subsampling", subsampling, *words)
    for name, pixels in images.items():
        options = {word[2:]: True for word in words}
        if pixels.ndim == 3:  # Pillow would tell of subsampling in gray files
            options["subsampling"] = PILLOW_SUBSAMPLING[subsampling]
        ours, theirs = files[name], saved(pixels, quality=83, **options)
        if words or not name.startswith("%dx%d" % LARGE):
            assert ours == theirs, name
        else:
            assert b"\xff\xdd\0\4" in ours and (opened(ours) == opened(theirs)).all(), name
            assert len(ours) <= len(theirs) + 200


@pytest.mark.parametrize("quality", (1, 24, 50, 90, 99, 100))
def test_qualities_as_by_pillow(gpuimg, quality):
    pixels = scene(64, 48)
    ours = encoded(gpuimg, {"scene": pixels}, "--quality", quality)["scene"]
    assert ours == saved(pixels, quality=quality, subsampling=2)


@pytest.mark.parametrize("words", ((), ("--subsampling", "422"), ("--subsampling", "444"), ("--progressive",)),
                         ids=" ".join)
def test_others_open_it(gpuimg, words):
    """OpenCV, djpeg and stb, which has an inverse transform and an interpolation of chroma of its own."""
    files = encoded(gpuimg, scenes(((17, 31), LARGE)), *words)
    by_stb = decoded(gpuimg, files, "blur", "--radius", "0", "--codec", "stb")
    for name, data in files.items():
        expected = opened(data)
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
        assert ((image if image.ndim == 2 else image[..., ::-1]) == expected).all(), name
        # Rounding in the transform, the interpolation and the conversion of colours, and stb swaps the weights of the last
        # two samples of chroma in a row that is only half as wide.
        whole = expected.shape[1] - 2 * ("422" in words)
        difference = abs(by_stb[name].astype(int) - expected)[:, :whole]
        assert difference.max() <= 4 and difference.mean() < 0.5, (name, difference.max(), difference.mean())
        if shutil.which("djpeg"):
            ppm = subprocess.run(["djpeg"], input=data, capture_output=True, check=True).stdout
            assert (np.array(Image.open(io.BytesIO(ppm))) == expected).all(), name


def test_orientation_is_kept_in_bands(gpuimg):
    data = encoded(gpuimg, {"large": scene(*LARGE)})["large"]
    exif = Image.Exif()
    exif[274] = 6
    tagged = io.BytesIO()
    Image.open(io.BytesIO(data)).save(tagged, "JPEG", exif=exif)
    source, target = gpuimg.folder / "tagged.jpg", gpuimg.folder / "kept.jpg"
    source.write_bytes(tagged.getvalue())
    gpuimg.run("blur", "--radius", 0, "--no-auto-orient", source, target)
    assert Image.open(target).getexif().get(274) == 6 and Image.open(target).size == LARGE
    gpuimg.run("blur", "--radius", 0, source, target)
    assert Image.open(target).getexif().get(274) == 1 and Image.open(target).size == LARGE[::-1]
