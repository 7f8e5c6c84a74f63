"""equalize: gray against OpenCV's equalizeHist; colours against NumPy, by the definition."""

import cv2
import numpy as np
import pytest

from oracle_images import SIZES, assert_same, random_image, size_name, smooth_image


def table_of(values):
    """What each level becomes, in exact integers (a half to the even neighbour); None for an image of one level."""
    counts = np.bincount(values.ravel(), minlength=256)
    first = int(np.flatnonzero(counts)[0])
    rest = int(values.size - counts[first])
    if rest == 0:
        return None
    sums = np.cumsum(counts) - counts[first]
    table = [0] * 256
    for v in range(first + 1, 256):
        level, left = divmod(int(sums[v]) * 255, rest)
        table[v] = level + (2 * left > rest or (2 * left == rest and level % 2 == 1))
    return np.array(table, np.int64)


def half_way(values):
    """Levels whose exact share lies half-way between two: there OpenCV's floats may fall to either side."""
    counts = np.bincount(values.ravel(), minlength=256)
    first = int(np.flatnonzero(counts)[0])
    rest = max(int(values.size - counts[first]), 1)
    sums = np.cumsum(counts) - counts[first]
    return [v for v in range(first + 1, 256) if int(sums[v]) * 510 % rest == 0 and int(sums[v]) * 510 // rest % 2 == 1]


def luma(image):
    r, g, b = (image[..., c].astype(np.int64) for c in range(3))
    return (9798 * r + 19235 * g + 3735 * b + 16384) >> 15


def equalized(image, mode="luma"):
    """The definition, on the colour channels; alpha as it was."""
    if image.ndim == 2:
        table = table_of(image)
        return image if table is None else table[image].astype(np.uint8)
    result = image.copy()
    if image.shape[2] == 2:
        result[..., 0] = equalized(image[..., 0])
    elif mode == "channel":
        for c in range(3):
            result[..., c] = equalized(image[..., c])
    else:
        y = luma(image)
        table = table_of(y)
        if table is not None:
            moved = image[..., :3].astype(np.int64) + (table[y] - y)[..., None]
            result[..., :3] = np.clip(moved, 0, 255)
    return result


def dull(size, channels, seed=3):
    """Levels that cluster, as in a flat photograph."""
    noise = random_image(size, channels, seed).astype(np.float64) / 255
    return np.rint(90 + 60 * noise**3).astype(np.uint8)


@pytest.mark.parametrize("size", SIZES, ids=size_name)
@pytest.mark.parametrize("kind", [random_image, dull])
def test_gray_is_opencvs(gpuimg, size, kind):
    image = kind(size, 1)
    result = gpuimg.process(image, "equalize")
    assert_same(result, equalized(image), size_name(size))
    theirs = cv2.equalizeHist(image)
    differing = np.unique(image[result != theirs])
    assert set(differing) <= set(half_way(image)), f"{size_name(size)}: {differing}"
    assert np.abs(result.astype(int) - theirs).max() <= 1


def test_levels_half_way_go_to_the_even_neighbour(gpuimg):
    # 511 pixels, one of them of the smallest level: 255 * sum / 510 is half-way for every odd sum.
    image = np.concatenate([[0], np.repeat(np.arange(1, 256), 2)]).astype(np.uint8)[None, :]
    image[0, 2] = 2
    assert 1 in half_way(image)
    assert_same(gpuimg.process(image, "equalize"), equalized(image), "half-way")


@pytest.mark.parametrize("value", [0, 7, 255])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_an_image_of_one_level_stays(gpuimg, channels, value):
    shape = (9, 5) if channels == 1 else (9, 5, channels)
    image = np.full(shape, value, np.uint8)
    for mode in ("luma", "channel"):
        assert_same(gpuimg.process(image, "equalize", "--mode", mode), image, f"{channels} channels, {value}, {mode}")


@pytest.mark.parametrize("mode", ["luma", "channel"])
@pytest.mark.parametrize("channels", [2, 3, 4])
@pytest.mark.parametrize("size", SIZES, ids=size_name)
def test_channels(gpuimg, size, channels, mode):
    for image in (random_image(size, channels), dull(size, channels)):
        result = gpuimg.process(image, "equalize", "--mode", mode)
        assert_same(result, equalized(image, mode), f"{size_name(size)}, {channels} channels, {mode}")


def test_luma_is_the_default(gpuimg):
    image = smooth_image((320, 200))
    assert_same(gpuimg.process(image, "equalize"), equalized(image, "luma"), "default")


def test_colours_are_clamped(gpuimg):
    image = np.array([[[255, 0, 0], [0, 0, 255], [255, 255, 0], [0, 255, 255], [10, 0, 9], [255, 250, 255]]], np.uint8)
    expected = equalized(image)
    assert (expected == 255).any() and (expected == 0).any()
    assert_same(gpuimg.process(image, "equalize"), expected, "clamped")


def test_every_colour(gpuimg, cube, cube_png):
    assert_same(gpuimg.process(cube_png, "equalize"), equalized(cube), "all colours")


def test_in_pipelines(gpuimg):
    image = smooth_image((333, 177))
    gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    assert_same(gpuimg.process(image, "run", "gray | equalize"), equalized(gray), "gray | equalize")
    expected = luma(equalized(image)).astype(np.uint8)
    assert_same(gpuimg.process(image, "run", "equalize | gray"), expected, "equalize | gray")
    expected = luma(equalized(image, "channel")).astype(np.uint8)
    assert_same(gpuimg.process(image, "run", "equalize channel | gray"), expected, "equalize channel | gray")
    dark = np.where(image > 100, 255, 0).astype(np.uint8)
    assert_same(gpuimg.process(image, "run", "threshold 100 | equalize"), equalized(dark), "threshold | equalize")
    twice = equalized(equalized(image))
    assert_same(gpuimg.process(image, "run", "equalize | equalize"), twice, "equalize | equalize")
    level, _ = cv2.threshold(luma(equalized(image)).astype(np.uint8), 0, 255, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    expected = np.where(luma(equalized(image)) > level, 255, 0).astype(np.uint8)
    assert_same(gpuimg.process(image, "run", "equalize | threshold otsu"), expected, "equalize | threshold otsu")
