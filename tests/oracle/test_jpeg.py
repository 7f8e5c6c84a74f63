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


def decoded(gpuimg, data, *command):
    source, target = gpuimg.folder / "in.jpg", gpuimg.folder / "decoded.png"
    source.write_bytes(data)
    gpuimg.run(*command, "--strict", "--png-level", 1, source, target)
    return np.array(Image.open(target))


def encoded(gpuimg, pixels, *options):
    source, target = write_png(gpuimg.folder / "in.png", pixels), gpuimg.folder / "encoded.jpg"
    gpuimg.run("blur", "--radius", 0, *options, source, target)
    return target.read_bytes()


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("progressive", (False, True))
def test_decoded_as_by_pillow(gpuimg, size, progressive):
    for subsampling in (0, 1, 2):
        data = saved(scene(*size), quality=87, subsampling=subsampling, progressive=progressive)
        assert (decoded(gpuimg, data, "blur", "--radius", 0) == opened(data)).all(), subsampling
        luma = Image.open(io.BytesIO(data))
        luma.draft("L", luma.size)
        assert (decoded(gpuimg, data, "gray") == np.array(luma)).all(), subsampling
    data = saved(scene(*size, 1), quality=87, progressive=progressive)
    assert (decoded(gpuimg, data, "blur", "--radius", 0) == opened(data)).all()


@pytest.mark.parametrize("progressive", (False, True))
def test_restart_markers_as_by_pillow(gpuimg, progressive):
    for interval in (1, 7, 100):
        options = [cv2.IMWRITE_JPEG_RST_INTERVAL, interval, cv2.IMWRITE_JPEG_PROGRESSIVE, int(progressive)]
        data = cv2.imencode(".jpg", scene(800, 701), options)[1].tobytes()
        assert (decoded(gpuimg, data, "blur", "--radius", 0) == opened(data)).all(), interval


def test_cut_files_as_by_pillow(gpuimg):
    """What a cut file lacks looks the same, and the rest, too."""
    for progressive in (False, True):
        data = saved(scene(800, 701), quality=87, progressive=progressive)
        data = data[: len(data) * 6 // 10] + b"\xff\xd9"
        source, target = gpuimg.folder / "in.jpg", gpuimg.folder / "out.png"
        source.write_bytes(data)
        ran = gpuimg.run("blur", "--radius", 0, source, target)
        assert ran.stderr.count("damaged JPEG") == 1, ran.stderr
        assert (np.array(Image.open(target)) == opened(data)).all(), progressive


@pytest.mark.parametrize("size", ((1, 1), (17, 31), (640, 427), (2100, 1031)), ids=str)
@pytest.mark.parametrize("subsampling", PILLOW_SUBSAMPLING)
def test_encoded_as_by_pillow(gpuimg, size, subsampling):
    """Files of one piece have Pillow's very bytes; larger ones its pixels."""
    for channels in (1, 3):
        pixels = scene(*size, channels)
        for words in ((), ("--optimize",), ("--progressive",)):
            options = {word[2:]: True for word in words}
            if channels == 3:  # Pillow would tell of subsampling in gray files
                options["subsampling"] = PILLOW_SUBSAMPLING[subsampling]
            theirs = saved(pixels, quality=83, **options)
            ours = encoded(gpuimg, pixels, "--quality", 83, "--subsampling", subsampling, *words)
            if size[0] * size[1] <= 1 << 21 or words:
                assert ours == theirs, (channels, words)
            else:
                assert b"\xff\xdd\0\4" in ours and (opened(ours) == opened(theirs)).all(), (channels, words)
                assert len(ours) <= len(theirs) + 200


def test_every_quality_as_by_pillow(gpuimg):
    pixels = scene(64, 48)
    for quality in (1, 2, 10, 25, 49, 50, 51, 75, 90, 95, 99, 100):
        assert encoded(gpuimg, pixels, "--quality", quality) == saved(pixels, quality=quality, subsampling=2), quality


@pytest.mark.parametrize("size", ((17, 31), (2100, 1031)), ids=str)
def test_others_open_it(gpuimg, size):
    """OpenCV, djpeg and stb, which has an inverse transform and an interpolation of chroma of its own."""
    for channels in (1, 3):
        for words in ((), ("--subsampling", "422"), ("--subsampling", "444"), ("--progressive",)):
            data = encoded(gpuimg, scene(*size, channels), *words)
            expected = opened(data)
            image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
            assert ((image if channels == 1 else image[..., ::-1]) == expected).all(), words
            by_stb = decoded(gpuimg, data, "blur", "--radius", 0, "--codec", "stb")
            # Rounding in the transform, the interpolation and the conversion of colours, and stb swaps the weights of the
            # last two samples of chroma in a row that is only half as wide.
            whole = size[0] - 2 * ("422" in words)
            difference = abs(by_stb.astype(int) - expected)[:, :whole]
            assert difference.max() <= 4 and difference.mean() < 0.5, (words, difference.max(), difference.mean())
            if shutil.which("djpeg"):
                ppm = subprocess.run(["djpeg"], input=data, capture_output=True, check=True).stdout
                assert (np.array(Image.open(io.BytesIO(ppm))) == expected).all()


def test_orientation_is_kept_in_bands(gpuimg):
    data = encoded(gpuimg, scene(2100, 1031))
    exif = Image.Exif()
    exif[274] = 6
    tagged = io.BytesIO()
    Image.open(io.BytesIO(data)).save(tagged, "JPEG", exif=exif)
    source, target = gpuimg.folder / "tagged.jpg", gpuimg.folder / "kept.jpg"
    source.write_bytes(tagged.getvalue())
    gpuimg.run("blur", "--radius", 0, "--no-auto-orient", source, target)
    assert Image.open(target).getexif().get(274) == 6 and Image.open(target).size == (2100, 1031)
    gpuimg.run("blur", "--radius", 0, source, target)
    assert Image.open(target).getexif().get(274) is None and Image.open(target).size == (1031, 2100)
