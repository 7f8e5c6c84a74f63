"""threshold against OpenCV's THRESH_BINARY and THRESH_OTSU."""

import re

import cv2
import numpy as np
import pytest

from oracle_images import SIZES, assert_same, random_image, size_name, smooth_image


def binary(image, level):
    """OpenCV's rule on the colour channels; alpha as it was."""
    result = image.copy()
    colours = image if image.ndim == 2 else image[..., : image.shape[2] - (image.shape[2] in (2, 4))]
    white = cv2.threshold(np.ascontiguousarray(colours), level, 255, cv2.THRESH_BINARY)[1].reshape(colours.shape)
    if image.ndim == 2:
        return white
    result[..., : colours.shape[2]] = white
    return result


@pytest.mark.parametrize("level", [0, 1, 127, 128, 254, 255])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_levels(gpuimg, channels, level):
    for size in SIZES[:-1]:
        image = random_image(size, channels)
        result = gpuimg.process(image, "threshold", "--level", level)
        assert_same(result, binary(image, level), f"{size_name(size)}, {channels} channels, level {level}")


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_large(gpuimg, channels):
    image = random_image(SIZES[-1], channels)
    assert_same(gpuimg.process(image, "threshold"), binary(image, 128), f"{channels} channels, default level")


def test_every_value_at_every_eighth_level(gpuimg):
    ramp = np.arange(256, dtype=np.uint8)[None, :]
    for level in [*range(0, 256, 8), 255]:
        assert_same(gpuimg.process(ramp, "threshold", "--level", level), binary(ramp, level), f"level {level}")


def test_gray_then_threshold(gpuimg):
    image = random_image((333, 77), 4)
    gray = cv2.cvtColor(np.ascontiguousarray(image[..., :3]), cv2.COLOR_RGB2GRAY)
    result = gpuimg.process(image, "run", "gray | threshold level=100")
    assert_same(result, np.dstack([binary(gray, 100), image[..., 3]]), "gray | threshold")


def test_threshold_then_gray(gpuimg):
    image = random_image((333, 77), 3)
    result = gpuimg.process(image, "run", "threshold 100 | gray | threshold 200")
    gray = cv2.cvtColor(binary(image, 100), cv2.COLOR_RGB2GRAY)
    assert_same(result, binary(gray, 200), "threshold | gray | threshold")


def two_modes(size, seed=5):
    generator = np.random.default_rng(seed)
    dark = generator.normal(70, 18, (size[1], size[0]))
    bright = generator.normal(180, 25, (size[1], size[0]))
    mixed = np.where(generator.random((size[1], size[0])) < 0.3, bright, dark)
    return np.clip(np.rint(mixed), 0, 255).astype(np.uint8)


def two_levels():
    image = np.full((20, 20), 50, np.uint8)
    image[5:9, 3:14] = 201
    return image


def skewed():
    image = np.full((64, 64), 3, np.uint8)
    image[:8, :8] = np.arange(64, dtype=np.uint8).reshape(8, 8) * 4
    return image


OTSU_IMAGES = {
    "two modes": two_modes((320, 200)),
    "two levels": two_levels(),
    "black and white": np.kron(np.eye(8, dtype=np.uint8) * 255, np.ones((3, 5), np.uint8)),
    "skewed": skewed(),
    "ramp": np.arange(256, dtype=np.uint8)[None, :],
    "noise": random_image((17, 31), 1),
    "smooth": smooth_image((200, 100))[..., 0].copy(),
    **{f"all {v}": np.full((7, 5), v, np.uint8) for v in (0, 1, 77, 254, 255)},
}


def otsu(gray):
    return cv2.threshold(gray, 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)


@pytest.mark.parametrize("name", OTSU_IMAGES)
def test_otsu_on_gray(gpuimg, name):
    image = OTSU_IMAGES[name]
    assert_same(gpuimg.process(image, "threshold", "--level", "otsu"), otsu(image)[1], name)


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("size", [(1, 15), (17, 31), (641, 387)], ids=size_name)
def test_otsu_makes_colour_gray_first(gpuimg, channels, size):
    image = smooth_image(size)
    gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    expected = otsu(gray)[1]
    if channels == 4:
        alpha = random_image(size, 1)
        image, expected = np.dstack([image, alpha]), np.dstack([expected, alpha])
    assert_same(gpuimg.process(image, "threshold", "--level", "otsu"), expected, size_name(size))
    assert_same(gpuimg.process(image, "run", "gray | threshold otsu"), expected, size_name(size))


def test_otsu_after_a_stage_measures_its_result(gpuimg):
    image = smooth_image((120, 90))
    gray = cv2.cvtColor(binary(image, 90), cv2.COLOR_RGB2GRAY)
    assert_same(gpuimg.process(image, "run", "threshold 90 | threshold otsu"), otsu(gray)[1], "threshold | otsu")


def test_verbose_prints_the_level(gpuimg, tmp_path):
    image = OTSU_IMAGES["two modes"]
    gpuimg.process(image, "threshold", "--level", "otsu")
    said = gpuimg.run("threshold", "--level", "otsu", "-v", tmp_path / "in.png", tmp_path / "out.png").stderr
    level = int(re.search(r"otsu level (\d+)", said).group(1))
    # Levels that no pixel has in between give the same classes: what counts is the image.
    assert_same(binary(image, level), otsu(image)[1], f"level {level}")
