"""blur against its rule written in numpy, and against OpenCV and scipy."""

import cv2
import numpy as np
import pytest
import scipy.ndimage

from oracle_images import SIZES, assert_same, random_image, size_name, smooth_image, write_png

BORDERS = ["reflect101", "replicate", "shrink", "constant"]
PAD_MODES = {"reflect101": "reflect", "replicate": "edge", "shrink": "constant", "constant": "constant"}
SMALL = SIZES[:-1]


def half_up(a, b):
    return (2 * a + b) // (2 * b)


def weighted_sums(lines, taps, axis, border, outside=0):
    """Sums of t(k) * neighbours along an axis; what lies outside with border=constant is `outside`."""
    radius = len(taps) // 2
    widths = [(0, 0)] * lines.ndim
    widths[axis] = (radius, radius)
    mode = PAD_MODES[border]
    more = {"constant_values": outside if border == "constant" else 0} if mode == "constant" else {}
    padded = np.pad(lines, widths, mode=mode, **more)
    size = lines.shape[axis]
    return sum(int(t) * padded.take(range(k, k + size), axis) for k, t in enumerate(taps))


def counted(size, taps, border):
    """The sum of the taps that take part at each place of a line."""
    return weighted_sums(np.ones(size, np.int64), taps, 0, border, 1)


def split(image):
    """Colour planes and the alpha plane or None, as int64."""
    planes = [image] if image.ndim == 2 else list(np.moveaxis(image, -1, 0))
    planes = [p.astype(np.int64) for p in planes]
    return (planes[:-1], planes[-1]) if len(planes) in (2, 4) else (planes, None)


def join(planes, shape):
    return np.stack(planes, axis=-1).astype(np.uint8).reshape(shape)


def quotient(a, b):
    return np.where(b > 0, np.minimum(255, half_up(a, np.maximum(b, 1))), 0)


def box(image, radius, border="reflect101", value=0):
    taps = [1] * (2 * radius + 1)
    height, width = image.shape[:2]
    n = np.outer(counted(height, taps, border), counted(width, taps, border))

    def sums(plane, outside):
        columns = weighted_sums(plane, taps, 0, border, outside)
        return weighted_sums(columns, taps, 1, border, outside * len(taps))

    colours, alpha = split(image)
    if alpha is None:
        return join([half_up(sums(c, value), n) for c in colours], image.shape)
    weight = sums(alpha, 255)
    return join([quotient(sums(c * alpha, value * 255), weight) for c in colours] + [half_up(weight, n)], image.shape)


def gauss_taps(sigma):
    bits, fraction = (15, 7) if sigma <= 32 else (24, 8)
    k = np.arange(-int(np.ceil(4 * sigma)), int(np.ceil(4 * sigma)) + 1)
    g = np.exp(-(k**2) / (2 * sigma**2))
    taps = np.floor(2**bits * (g / g.sum()) + 0.5).astype(np.int64)
    taps[len(k) // 2] += 2**bits - taps.sum()
    return taps, bits, fraction


def gauss(image, sigma, border="reflect101", value=0):
    taps, bits, fraction = gauss_taps(sigma)
    height, width = image.shape[:2]
    down, across = counted(height, taps, border)[:, None], counted(width, taps, border)[None, :]
    colours, alpha = split(image)
    if alpha is None:
        made = []
        for c in colours:
            first = half_up(weighted_sums(c, taps, 0, border, value) << fraction, down)
            made.append(half_up(weighted_sums(first, taps, 1, border, value << fraction), across << fraction))
        return join(made, image.shape)

    def two_passes(plane, outside, drop):
        half = (1 << drop) >> 1
        first = (weighted_sums(plane, taps, 0, border, outside) + half) >> drop
        return weighted_sums(first, taps, 1, border, ((outside << bits) + half) >> drop)

    wide = bits == 24
    weight = two_passes(alpha, 255, 8 if wide else 0) >> (8 if wide else 0)
    one = (down * across) >> (16 if wide else 0)
    made = [quotient(two_passes(c * alpha, 255 * value, 16 if wide else 0), weight) for c in colours]
    return join(made + [quotient(weight, one)], image.shape)


def outside(border, value):
    """The options; only a constant border takes a value."""
    return "--border", border, *(("--value", value) if border == "constant" else ())


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_box_sizes(gpuimg, channels, border):
    for size, radius in zip(SMALL, [0, 3, 40, 5, 2, 7]):
        image = random_image(size, channels)
        result = gpuimg.process(image, "blur", "--radius", radius, *outside(border, 9))
        assert_same(result, box(image, radius, border, 9), f"{size_name(size)}, {channels}, r={radius}, {border}")


@pytest.mark.parametrize("channels", [1, 4])
def test_box_large(gpuimg, channels):
    image = random_image(SIZES[-1], channels)
    assert_same(gpuimg.process(image, "blur"), box(image, 1), "the default: radius 1, reflect101")
    assert_same(gpuimg.process(image, "blur", "--radius", 12), box(image, 12), "radius 12")


@pytest.mark.parametrize("border", BORDERS)
def test_box_of_largest_radius(gpuimg, border):
    image = random_image((21, 13), 3)
    result = gpuimg.process(image, "blur", "--radius", 16384, *outside(border, 255))
    assert_same(result, box(image, 16384, border, 255), border)


@pytest.mark.parametrize("channels", [1, 3])
def test_box_as_opencv(gpuimg, channels):
    image = smooth_image((640, 360)) if channels == 3 else smooth_image((640, 360))[..., 0].copy()
    codes = {"reflect101": cv2.BORDER_REFLECT101, "replicate": cv2.BORDER_REPLICATE, "constant": cv2.BORDER_CONSTANT}
    for radius in (1, 5, 15):
        for border, code in codes.items():
            expected = cv2.blur(image, (2 * radius + 1,) * 2, borderType=code)
            result = gpuimg.process(image, "blur", "--radius", radius, "--border", border)
            assert np.abs(result.astype(int) - expected).max() <= 1, (radius, border)
            assert np.count_nonzero(result != expected) < image.size / 1000, (radius, border)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_gauss_sizes(gpuimg, channels, border):
    for size, sigma in zip(SMALL, [1, 0.4, 5, 2, 1.5, 3]):
        image = random_image(size, channels)
        result = gpuimg.process(image, "blur", "--sigma", sigma, *outside(border, 200))
        assert_same(result, gauss(image, sigma, border, 200), f"{size_name(size)}, {channels}, s={sigma}, {border}")


@pytest.mark.parametrize("sigma", [0.01, 0.3, 1, 10, 32, 33, 256])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_gauss_sigmas(gpuimg, channels, sigma):
    image = random_image((83, 61), channels)
    border = BORDERS[channels - 1]
    result = gpuimg.process(image, "blur", "--sigma", sigma, *outside(border, 200))
    assert_same(result, gauss(image, sigma, border, 200), f"{channels} channels, sigma {sigma}, {border}")


@pytest.mark.parametrize("sigma", [0.7, 1, 3, 10, 30, 40])
def test_gauss_near_scipy(gpuimg, sigma):
    for image in (smooth_image((500, 300)), random_image((500, 300), 3)):
        result = gpuimg.process(image, "blur", "--sigma", sigma)
        exact = scipy.ndimage.gaussian_filter(image.astype(np.float64), (sigma, sigma, 0), mode="mirror", truncate=4)
        error = np.abs(result - exact)
        assert error.max() <= 1 and abs((result - exact).mean()) < 0.1, (sigma, error.max(), error.mean())


def test_tiny_sigma_is_the_identity(gpuimg):
    image = random_image((77, 33), 3)
    assert_same(gpuimg.process(image, "blur", "--sigma", 0.1), image, "sigma 0.1")


@pytest.mark.parametrize("options", [("--radius", 9), ("--sigma", 3), ("--sigma", 40)])
def test_constant_image_stays(gpuimg, options):
    for value in (0, 1, 128, 255):
        image = np.full((50, 70, 3), value, np.uint8)
        for border in BORDERS[:3]:
            assert_same(gpuimg.process(image, "blur", *options, "--border", border), image, f"{value}, {border}")


def test_transparent_colours_do_not_bleed(gpuimg):
    image = np.zeros((40, 60, 4), np.uint8)
    image[:, :30] = (200, 100, 50, 255)
    image[:, 30:] = (0, 255, 0, 0)
    for options in (("--radius", 4), ("--sigma", 2), ("--sigma", 33)):
        result = gpuimg.process(image, "blur", *options)
        seen = result[result[..., 3] > 0]
        assert np.all(seen[:, :3] == (200, 100, 50)), options


def test_in_a_pipeline(gpuimg):
    image = smooth_image((200, 100))
    gray = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
    result = gpuimg.process(image, "run", "gray | blur 2 | blur sigma=1.5 border=replicate")
    assert_same(result, gauss(box(gray, 2), 1.5, "replicate"), "gray | blur | blur")


@pytest.mark.parametrize(
    "options, reason",
    [
        (("--radius", 2, "--sigma", 1), "not both"),
        (("--sigma", 0), "above 0"),
        (("--sigma", 257), "256"),
        (("--radius", 16385), "16384"),
        (("--border", "wrap"), "reflect101"),
        (("--value", 3), "blur takes value=3 with border=constant alone"),
        (("--border", "shrink", "--value", 3), "with border=constant alone"),
    ],
)
def test_refusals(gpuimg, tmp_path, options, reason):
    source = write_png(tmp_path / "in.png", random_image((5, 4), 1))
    done = gpuimg.run("blur", *options, source, tmp_path / "out.png", expect=2)
    assert reason in done.stderr
    assert not (tmp_path / "out.png").exists()


def test_a_value_past_the_depth_fails_that_file(gpuimg, tmp_path):
    source = write_png(tmp_path / "in.png", random_image((5, 4), 1))
    done = gpuimg.run("blur", "--value", 256, "--border", "constant", source, tmp_path / "out.png", expect=1)
    assert "255" in done.stderr and not (tmp_path / "out.png").exists()
