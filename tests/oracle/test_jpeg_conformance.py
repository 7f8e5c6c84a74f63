"""JPEG by the standard: every kind that Pillow, OpenCV and cjpeg write, at sizes 1 to 40, and files that are odd in one
thing each, against the pixels of libjpeg-turbo in Pillow.

A box of radius 0 hands pixels through. Whole folders are done in one run each."""

import io
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image, features

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "corpus"))
from jpeg_oddities import SAMPLINGS, cjpeg, joined, oddities, split  # noqa: E402
from make_corpus import jpeg, jpeg_with_restarts, scene, segment, tiff, upright  # noqa: E402

from oracle_images import assert_same  # noqa: E402

LARGEST = 40


@pytest.fixture(autouse=True)
def needs_turbo():
    about = subprocess.run([os.environ["GPUIMG"], "info"], capture_output=True, text=True, check=True).stdout
    if " libjpeg-turbo " not in about.split("\nmissing")[0]:
        pytest.skip("built without libjpeg-turbo")
    if not features.check_feature("libjpeg_turbo"):
        pytest.skip("Pillow has another JPEG library")


def height_of(width, kind):
    return 1 + (width * 7 + kind * 11) % LARGEST


def handed_through(tmp_path, files, *options):
    """The pixels that one run makes of files by names, without a message."""
    source, target = tmp_path / "in", tmp_path / " ".join(("out", *options))
    source.mkdir(exist_ok=True)
    for name, data in files.items():
        (source / f"{name}.jpg").write_bytes(data)
    command = [os.environ["GPUIMG"], "blur", "--radius", "0", "--device", "cpu", "--strict", "--png-level", "1", "--format",
               "png", *options, source, target]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0 and run.stderr == f"gpuimg: {len(files)} done\n", run.stderr[:3000]
    return {name: np.asarray(Image.open(target / f"{name}.png")) for name in files}


def check(tmp_path, files):
    """What is handed through has the pixels that Pillow sees."""
    for name, pixels in handed_through(tmp_path, files).items():
        with Image.open(io.BytesIO(files[name])) as image:
            expected = np.asarray(image.convert("RGB") if image.mode == "CMYK" else image)
        if image.mode == "CMYK":  # Pillow rounds otherwise
            assert abs(pixels.astype(int) - expected).max() <= 2, name
        else:
            assert_same(pixels, expected, name)


@pytest.mark.parametrize("progressive", (False, True))
def test_every_size(tmp_path, progressive):
    files = {}
    for width in range(1, LARGEST + 1):
        for kind, (mode, subsampling) in enumerate((("L", 0), ("RGB", 0), ("RGB", 1), ("RGB", 2), ("CMYK", 0), ("CMYK", 2))):
            image = scene(width, height_of(width, kind)).convert(mode)
            options = {"subsampling": subsampling} if mode == "RGB" else {}
            files[f"{width}-{mode}-{subsampling}"] = jpeg(image, quality=75, progressive=progressive, **options)
        if width > 16:
            image = scene(width, 33 + width)
            files[f"{width}-restart"] = jpeg_with_restarts(image, 1 + width % 5, progressive)
    check(tmp_path, files)


@pytest.mark.skipif(not shutil.which("cjpeg"), reason="no cjpeg")
@pytest.mark.parametrize("options", ((), ("-progressive",), ("-arithmetic",), ("-arithmetic", "-progressive"), ("-restart", "2B")),
                         ids="".join)
def test_every_sampling(tmp_path, options):
    files = {}
    for kind, sampling in enumerate(SAMPLINGS):
        for width in range(1 + kind % 5, LARGEST + 1, 5):
            data = cjpeg(scene(width, height_of(width, kind)), "-sample", sampling, *options)
            if data and is_read_by_pillow(data):
                files[f"{width}-{sampling.replace(',', '-')}"] = data
    assert len(files) >= 12 * 8
    check(tmp_path, files)


def is_read_by_pillow(data):
    """cjpeg writes fractional subsampling, which the library does not read."""
    try:
        Image.open(io.BytesIO(data)).load()
        return True
    except OSError:
        return False


# Of those that are odd in one thing: nothing is wrong with them.
SOUND = ("exif-", "comment-at", "comment-behind", "app", "mpf-", "empty-", "long-", "fill-", "dri-0-", "jfif-at", "jfif-behind",
         "jpg0-", "jpg13-", "tem-", "mpo", "thumbnail-in", "png-behind", "zip-behind", "colour-", "gray-", "cjpeg-",
         "inks-adobe0", "inks-adobe2.", "inks-progressive", "res-behind", "exp-behind", "dhp-behind", "jpg-behind", "dac-empty-b",
         "junk-behind", "zeros-behind", "soi-behind", "rst-behind", "dnl-behind")


@pytest.mark.filterwarnings("ignore:Image appears to be a malformed MPO")
def test_odd_files_that_are_sound(tmp_path):
    files = {name: data for name, data in oddities() if f"{name}.".startswith(SOUND)}
    assert len(files) > 200
    refused = {name for name, data in files.items() if not is_read_by_pillow(data)}
    # Pillow looks at markers itself; these hold no image data.
    assert {name.split("-at-")[0] for name in refused} <= {"jpg0", "jpg13", "tem", "app14-short"}, refused
    for name in refused:
        del files[name]
    check(tmp_path, files)


def test_stb_takes_what_is_sound(tmp_path):
    """With an inverse transform and an interpolation of its own."""
    files = {name: data for name, data in oddities() if f"{name}.".startswith(SOUND) and "arithmetic" not in name}
    ours, by_stb = handed_through(tmp_path, files), handed_through(tmp_path, files, "--codec", "stb")
    for name, pixels in ours.items():
        assert pixels.shape == by_stb[name].shape and abs(pixels.astype(int) - by_stb[name]).mean() < 2, name


def test_exif_wherever_it_is(tmp_path):
    """Before the first scan it turns the pixels, behind it no more."""
    image = scene(41, 35)
    data = jpeg(image, quality=80, subsampling=0)
    plain = np.asarray(Image.open(io.BytesIO(data)))
    parts = split(data)
    scan = next(i for i, (code, _) in enumerate(parts) if code == 0xDA)
    for orientation in (3, 6):
        exif = segment(0xE1, b"Exif\0\0" + tiff(orientation, "MM"))
        files = {f"{orientation}-{place}": joined(parts[:place] + [(0xE1, exif)] + parts[place:]) for place in range(len(parts) + 1)}
        folder = tmp_path / str(orientation)
        folder.mkdir()
        for place, pixels in enumerate(handed_through(folder, files).values()):
            assert_same(pixels, upright(plain, orientation) if place <= scan else plain, f"{orientation} at {place}")
