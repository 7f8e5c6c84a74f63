"""gray against OpenCV, numpy and libjpeg."""

import cv2
import numpy as np
import pytest

from oracle_images import (
    SIZES,
    assert_same,
    decode_jpeg_luma,
    encode_jpeg,
    random_image,
    size_name,
    smooth_image,
)


def gray_601(rgb):
    r, g, b = (rgb[..., c].astype(np.int64) for c in range(3))
    return ((9798 * r + 19235 * g + 3735 * b + 16384) >> 15).astype(np.uint8)


def gray_709(rgb):
    r, g, b = (rgb[..., c].astype(np.int64) for c in range(3))
    return ((6966 * r + 23436 * g + 2366 * b + 16384) >> 15).astype(np.uint8)


def linear_light(rgb):
    """The re-encoded luminance in units of one level, not rounded; IEC 61966-2-1 in double precision."""
    code = np.arange(256) / 255
    decoded = np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)
    light = 0.2126 * decoded[rgb[..., 0]] + 0.7152 * decoded[rgb[..., 1]] + 0.0722 * decoded[rgb[..., 2]]
    return 255 * np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def assert_rounded(actual, exact, what):
    """`actual` is `exact` rounded half up. The program adds three summands and compares with a threshold, each rounded
    to units of 2^-30: 2 units in all, at the curve's foot (slope 12.92 * 255) 6e-6 levels. That near a half, either
    neighbour will do."""
    away = np.abs(actual.astype(np.float64) - exact)
    assert actual.shape == exact.shape
    worst = np.unravel_index(away.argmax(), away.shape)
    assert away[worst] <= 0.5 + 1e-5, f"{what}: {actual[worst]} for {exact[worst]} at {worst}"


@pytest.mark.parametrize("size", SIZES, ids=size_name)
def test_601_equals_opencv(gpuimg, size):
    image = random_image(size, 3)
    assert_same(gpuimg.process(image, "gray"), cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), f"gray {size_name(size)}")


def test_601_equals_opencv_on_every_colour(gpuimg, cube, cube_png):
    assert_same(gpuimg.process(cube_png, "gray", "--weights", "601"), cv2.cvtColor(cube, cv2.COLOR_RGB2GRAY), "cube")


def test_601_equals_its_formula_on_every_colour(gpuimg, cube, cube_png):
    assert_same(gpuimg.process(cube_png, "gray"), gray_601(cube), "cube")


def test_709_on_every_colour(gpuimg, cube, cube_png):
    assert_same(gpuimg.process(cube_png, "gray", "--weights", "709"), gray_709(cube), "cube")


def test_linear_on_every_colour(gpuimg, cube, cube_png):
    assert_rounded(gpuimg.process(cube_png, "gray", "--weights", "linear"), linear_light(cube), "cube")


def test_linear_keeps_grays(gpuimg):
    ramp = np.repeat(np.arange(256, dtype=np.uint8)[None, :, None], 3, axis=2)
    assert_same(gpuimg.process(ramp, "gray", "--weights", "linear"), ramp[..., 0], "ramp")


@pytest.mark.parametrize("size", SIZES, ids=size_name)
@pytest.mark.parametrize("weights", ["601", "709", "linear"])
def test_alpha_is_kept(gpuimg, size, weights):
    image = random_image(size, 4)
    result = gpuimg.process(image, "gray", "--weights", weights)
    assert_same(result[..., 1], image[..., 3], "alpha")
    if weights == "linear":
        assert_rounded(result[..., 0], linear_light(image), size_name(size))
    else:
        expected = gray_601(image) if weights == "601" else gray_709(image)
        assert_same(result[..., 0], expected, f"{weights} {size_name(size)}")


@pytest.mark.parametrize("weights", ["601", "709", "linear"])
@pytest.mark.parametrize("channels", [1, 2])
def test_gray_images_pass_unchanged(gpuimg, channels, weights):
    for size in SIZES:
        image = random_image(size, channels)
        assert_same(gpuimg.process(image, "gray", "--weights", weights), image, f"{size_name(size)}, {channels} channels")


def jpeg_file(folder, image, subsampling="4:2:0"):
    data = encode_jpeg(image, subsampling=subsampling)
    if data is None:
        pytest.skip(f"no library here writes {subsampling}")
    path = folder / "in.jpg"
    path.write_bytes(data)
    return path, data


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
@pytest.mark.parametrize("size", [(1, 1), (8, 8), (17, 31), (640, 479)], ids=size_name)
def test_jpeg_gives_its_luma_plane(gpuimg, tmp_path, size, subsampling):
    """Two accurate inverse DCTs (IEEE 1180: peak error 1) differ by at most 2, and seldom at all. RGB rounded and mixed
    back again would differ wherever a colour was clamped."""
    path, data = jpeg_file(tmp_path, smooth_image(size), subsampling)
    luma = decode_jpeg_luma(data).astype(int)
    difference = np.abs(gpuimg.process(path, "gray").astype(int) - luma)
    assert difference.max() <= 2
    assert difference.mean() <= 0.02 or difference.size < 1000


def test_gray_jpeg_is_its_only_plane(gpuimg, tmp_path):
    path, data = jpeg_file(tmp_path, smooth_image((65, 33))[..., 1])
    difference = np.abs(gpuimg.process(path, "gray").astype(int) - decode_jpeg_luma(data).astype(int))
    assert difference.max() <= 2


def decoded_rgb(gpuimg, path):
    """The RGB pixels that gpuimg decodes: a sample is above as many levels as its value. The decoder knows of no device."""
    total = 0
    for level in range(255):
        total = total + (gpuimg.process(path, "threshold", "--level", level, device="cpu") // 255).astype(np.uint8)
    return total


def test_no_jpeg_luma_mixes_the_decoded_rgb(gpuimg, tmp_path):
    path, _ = jpeg_file(tmp_path, smooth_image((33, 17)))
    rgb = decoded_rgb(gpuimg, path)
    assert rgb.shape == (17, 33, 3)
    assert_same(gpuimg.process(path, "gray", "--no-jpeg-luma"), gray_601(rgb), "gray of RGB")
    assert_same(gpuimg.process(path, "gray", "--weights", "709"), gray_709(rgb), "709 never takes the luma plane")
    assert_rounded(gpuimg.process(path, "gray", "--weights", "linear"), linear_light(rgb), "linear")
    assert not np.array_equal(gpuimg.process(path, "gray"), gray_601(rgb)), "the image has no clamped colour: a poor test"
