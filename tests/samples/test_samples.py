"""The samples are what samples/draw_samples.py draws."""
import os
import pathlib
import sys

import numpy as np
import pytest
from PIL import Image, ImageOps

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"
sys.path.insert(0, str(SAMPLES))
import draw_samples

needs_fonts = pytest.mark.skipif(not draw_samples.FONTS.is_dir(), reason="the DejaVu fonts are not installed")


def pixels(image):
    return np.asarray(image).astype(int)


def test_landscape_is_drawn_alike_everywhere():
    with Image.open(SAMPLES / "landscape.png") as image:
        assert np.array_equal(pixels(image), draw_samples.landscape.draw(960, 540))


@needs_fonts
@pytest.mark.parametrize("name, draw", [("chart.png", draw_samples.chart), ("scan.png", draw_samples.scan)])
def test_drawn_with_text(name, draw):
    """Glyphs may differ a little between versions of FreeType; the picture may not."""
    with Image.open(SAMPLES / name) as image:
        again = draw()
        assert (image.size, image.mode) == (again.size, again.mode)
        assert np.abs(pixels(image) - pixels(again)).mean() < 1.0


@needs_fonts
def test_portrait_is_upright_once_oriented():
    with Image.open(SAMPLES / "portrait_exif6.jpg") as image:
        assert image.size == (400, 300) and image.getexif()[0x0112] == 6
        upright = ImageOps.exif_transpose(image)
    assert upright.size == (300, 400)
    assert np.abs(pixels(upright) - pixels(draw_samples.portrait())).mean() < 4.0


def test_they_stay_small():
    total = sum(os.path.getsize(SAMPLES / name) for name in os.listdir(SAMPLES) if name.endswith((".png", ".jpg")))
    assert total < 1_600_000
