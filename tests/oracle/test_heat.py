"""heat against numpy: the linear mode bit for bit in float32, the nonlinear one within a level of double arithmetic."""

import numpy as np
import pytest

from oracle_images import SIZES, assert_same, random_image, size_name, smooth_image, write_png

SMALL = SIZES[:-1]


def colours_of(image):
    return image[..., None] if image.ndim == 2 else image[..., : image.shape[2] - (image.shape[2] in (2, 4))]


def heat(image, step, kind):
    """Applies step(T, sum of neighbours) to the colours as `kind` of float; returns samples, alpha as it was."""
    t = colours_of(image).astype(kind) / kind(255)
    for one in step:
        padded = np.pad(t, ((1, 1), (1, 1), (0, 0)))
        up, down, left, right = padded[:-2, 1:-1], padded[2:, 1:-1], padded[1:-1, :-2], padded[1:-1, 2:]
        t = one(t, ((up + down) + left) + right)
    samples = (np.clip(t, 0, 1) * kind(255) + kind(0.5)).astype(np.uint8)
    if image.ndim == 2:
        return samples[..., 0]
    result = image.copy()
    result[..., : samples.shape[2]] = samples
    return result


def linear(image, steps, alpha=0.25, dt=0.1):
    rate, four = np.float32(alpha * dt), np.float32(4)
    return heat(image, [lambda t, s: t + rate * (s - four * t)] * steps, np.float32)


def nonlinear(image, steps, inner=100, alpha=0.25, dt=0.1):
    def step(t, s):
        for _ in range(inner):
            new = t + alpha * dt * np.tanh(s - 4 * t)
            t = 0.99 * new + 0.01 * np.sin(new)
        return t

    return heat(image, [step] * steps, np.float64)


def assert_near(result, expected, what):
    assert result.shape == expected.shape
    far = np.abs(result.astype(int) - expected)
    assert far.max() <= 1, (what, far.max())
    assert np.count_nonzero(far) <= max(3, far.size / 500), (what, np.count_nonzero(far))


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_linear(gpuimg, channels):
    for size, steps in zip(SMALL, [1, 2, 3, 4, 5, 1]):
        image = random_image(size, channels)
        result = gpuimg.process(image, "heat", "--mode", "linear", "--steps", steps)
        assert_same(result, linear(image, steps), f"{size_name(size)}, {channels} channels, {steps} steps")


@pytest.mark.parametrize("alpha, dt", [(1, 0.25), (0.5, 0.3), (250, 0.001)])
def test_linear_rates(gpuimg, alpha, dt):
    image = smooth_image((300, 200))
    options = ("--mode", "linear", "--steps", 30, "--alpha", alpha, "--dt", dt)
    assert_same(gpuimg.process(image, "heat", *options), linear(image, 30, alpha, dt), f"{alpha} * {dt}")


def test_linear_large(gpuimg):
    image = random_image(SIZES[-1], 3)
    result = gpuimg.process(image, "heat", "--mode", "linear", "--steps", 3)
    assert_same(result, linear(image, 3), "1920x1080")


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_nonlinear(gpuimg, channels):
    for size, steps in zip(SMALL[:4], [1, 2, 3, 4]):
        image = random_image(size, channels)
        result = gpuimg.process(image, "heat", "--steps", steps)
        assert_near(result, nonlinear(image, steps), f"{size_name(size)}, {channels} channels, {steps} steps")
        if channels in (2, 4):
            assert_same(result[..., -1], image[..., -1], "alpha")


@pytest.mark.parametrize("inner", [1, 7, 300])
def test_nonlinear_inner(gpuimg, inner):
    image = smooth_image((160, 90))
    result = gpuimg.process(image, "heat", "--inner", inner, "--alpha", 1, "--dt", 0.25)
    assert_near(result, nonlinear(image, 1, inner, 1, 0.25), f"inner {inner}")


def test_fast_is_near(gpuimg):
    image = smooth_image((160, 90))
    result = gpuimg.process(image, "heat", "--precision", "fast")
    assert np.abs(result.astype(int) - nonlinear(image, 1)).max() <= 1


def test_tile_changes_nothing(gpuimg):
    image = smooth_image((200, 150))
    expected = gpuimg.process(image, "heat", "--steps", 2)
    for tile in (8, 16, 25, 33, 64):
        assert_same(gpuimg.process(image, "heat", "--steps", 2, "--tile", tile), expected, f"tile {tile}")


@pytest.mark.parametrize("alpha, dt", [(0.25, 1.1), (0, 0.1), (1, 0), (1000, 1000)])
def test_refuses_unstable_rates(gpuimg, tmp_path, alpha, dt):
    source = write_png(tmp_path / "in.png", random_image((5, 4), 1))
    for mode in ("linear", "nonlinear"):
        options = ("--mode", mode, "--alpha", alpha, "--dt", dt)
        done = gpuimg.run("heat", *options, source, tmp_path / "out.png", expect=2)
        assert "0.25" in done.stderr
        assert not (tmp_path / "out.png").exists()
