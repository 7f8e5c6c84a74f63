"""Kinds of images that PNG files hold, made from seeds: what an encoder's sizes are measured on.

kinds(width, height) yields (name, uint8 array); as a program, `png_kinds.py FOLDER [WIDTH HEIGHT]` writes them as PNG
files. The photo here is made up (smooth shapes and sensor-like noise); real ones compress alike.
"""

import os
import sys

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

SEED = 20261130

TEXT = """Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files, to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions: the above copyright notice and this permission
notice shall be included in all copies or substantial portions of the Software.""".split()


def random(name):
    return np.random.default_rng([SEED, *name.encode()])


def lines_of_text(rng, words):
    return " ".join(rng.choice(TEXT, words))


def photo(width, height, rng):
    """RGB: clouds of several scales, lit edges, noise that grows with the light."""
    out = np.zeros((height, width, 3), np.float32)
    for scale in (4, 16, 64, 256):
        small = rng.normal(0, 1, (height // scale + 2, width // scale + 2, 3)).astype(np.float32)
        small = 0.7 * small[:, :, :1] + 0.3 * small
        for c in range(3):
            layer = Image.fromarray(small[:, :, c]).resize((width, height), Image.BICUBIC)
            out[:, :, c] += np.asarray(layer) * scale**0.62
    shape = Image.new("L", (width, height))
    draw = ImageDraw.Draw(shape)
    for _ in range(24):
        x, y, r = rng.integers(0, width), rng.integers(0, height), rng.integers(8, max(9, height // 4))
        draw.ellipse((x - r, y - r // 2, x + r, y + r), fill=int(rng.integers(0, 90)))
    out = 128 + 1.6 * out + np.asarray(shape, np.float32)[:, :, None] - 30
    noise = rng.normal(0, 1, out.shape).astype(np.float32) * np.sqrt(2 + 0.1 * np.clip(out, 0, 255))
    return np.clip(np.rint(out + noise), 0, 255).astype(np.uint8)


def gray_of(rgb):
    weights = np.array([9798, 19235, 3735], np.uint32)
    return ((rgb.astype(np.uint32) @ weights + 16384) >> 15).astype(np.uint8)


def screen(width, height, rng):
    """A desktop: flat panels, windows of text, one photo."""
    image = Image.new("RGB", (width, height), (46, 52, 64))
    draw = ImageDraw.Draw(image)
    for k in range(6):
        x, y = width * (k % 3) // 3 + 10, height * (k // 3) // 2 + 12
        right, bottom = x + width // 3 - 24, y + height // 2 - 24
        light = k % 2 == 0
        draw.rectangle((x, y, right, bottom), (236, 239, 244) if light else (29, 31, 40))
        draw.rectangle((x, y, right, y + 20), (94, 129, 172))
        for line in range(y + 26, bottom - 14, 12):
            text = lines_of_text(rng, int(rng.integers(1, 16)))[: (right - x) // 7]
            draw.text((x + 8, line), text, fill=(40, 42, 54) if light else (163, 190, 140))
    w, h = width // 4, height // 4
    image.paste(Image.fromarray(photo(w, h, rng)), (width - w - 30, height - h - 30))
    return np.asarray(image)


def chart(width, height, rng):
    """Lines on white, smoothed at their edges."""
    image = Image.new("RGB", (2 * width, 2 * height), "white")
    draw = ImageDraw.Draw(image)
    for y in range(height // 8, 2 * height, height // 5):
        draw.line((50, y, 2 * width - 50, y), (220, 220, 220), 2)
    for colour in ((214, 39, 40), (31, 119, 180), (44, 160, 44), (255, 127, 14)):
        walk = height + np.cumsum(rng.normal(0, 9, width // 2))
        draw.line([(50 + 4 * i, float(v)) for i, v in enumerate(walk)], colour, 5)
    return np.asarray(image.resize((width, height), Image.BOX))


def line_art(width, height, rng):
    image = Image.new("L", (width, height), 255)
    draw = ImageDraw.Draw(image)
    for _ in range(width * height // 8000 + 4):
        x, y, r = rng.integers(0, width), rng.integers(0, height), rng.integers(3, 120)
        start = int(rng.integers(0, 360))
        draw.arc((x - r, y - r, x + r, y + r), start, start + int(rng.integers(30, 300)), fill=0, width=2)
    return np.asarray(image)


def page_of_text(width, height, rng):
    image = Image.new("L", (width, height), 255)
    draw = ImageDraw.Draw(image)
    for y in range(10, height - 12, 12):
        draw.text((12, y), lines_of_text(rng, max(2, width // 48))[: max(4, width // 7)], fill=0)
    return np.asarray(image)


def few_colours(width, height, rng):
    """Flat areas of sixteen colours, as a map has them."""
    small = rng.normal(0, 1, (height // 24 + 2, width // 24 + 2)).astype(np.float32)
    smooth = np.asarray(Image.fromarray(small).resize((width, height), Image.BICUBIC))
    colours = rng.integers(0, 256, (16, 3), np.uint8)
    return colours[np.clip((smooth * 4 + 8).astype(int), 0, 15)]


def dithered(width, height, rng):
    """Gray of eight values, error diffused."""
    source = Image.fromarray(gray_of(photo(width, height, rng)))
    levels = Image.new("P", (1, 1))
    levels.putpalette([v for k in range(8) for v in (k * 36, k * 36, k * 36)] + [0] * (768 - 24))
    index = np.asarray(source.convert("RGB").quantize(palette=levels, dither=Image.FLOYDSTEINBERG))
    return (np.minimum(index, 7) * 36).astype(np.uint8)


def gradients(width, height):
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    red, green = x * 255 // max(1, width - 1), y * 255 // max(1, height - 1)
    return np.stack([red, green, (x + y) % 256], axis=-1).astype(np.uint8)


def sprite(width, height, rng):
    """RGBA: a drawing with soft edges on nothing."""
    image = Image.new("RGBA", (width, height))
    draw = ImageDraw.Draw(image)
    for _ in range(20):
        x, y, r = rng.integers(0, width), rng.integers(0, height), rng.integers(5, max(6, height // 6))
        draw.ellipse((x - r, y - r, x + r, y + r), fill=tuple(int(v) for v in rng.integers(0, 256, 3)) + (255,))
    return np.asarray(image.filter(ImageFilter.GaussianBlur(1.5)))


def kinds(width, height, rgb_photo=None):
    """(name, image) of every kind; `rgb_photo` takes the place of the made-up one."""
    rgb = photo(width, height, random("photo")) if rgb_photo is None else rgb_photo
    gray = gray_of(rgb)
    median = int(np.median(gray))
    blurred = np.asarray(Image.fromarray(gray).filter(ImageFilter.BoxBlur(4)))
    yield "photo_rgb", rgb
    yield "photo_gray", gray
    yield "photo_blurred", blurred
    yield "mask", np.where(gray > median, 255, 0).astype(np.uint8)
    yield "mask_rgb", np.where(rgb > 128, 255, 0).astype(np.uint8)
    yield "mask_smooth", np.where(blurred > median, 255, 0).astype(np.uint8)
    yield "mask_sparse", np.where(gray > np.percentile(gray, 98), 255, 0).astype(np.uint8)
    desktop = screen(width, height, random("screen"))
    yield "screen_rgb", desktop
    yield "screen_gray", gray_of(desktop)
    plot = chart(width, height, random("chart"))
    yield "chart_rgb", plot
    yield "chart_gray", gray_of(plot)
    yield "line_art", line_art(width, height, random("line art"))
    yield "text", page_of_text(width, height, random("text"))
    yield "few_colours", few_colours(width, height, random("few colours"))
    yield "few_grays", gray_of(few_colours(width, height, random("few colours")))
    yield "dithered", dithered(width, height, random("dithered"))
    yield "flat_gray", np.full((height, width), 130, np.uint8)
    yield "flat_rgb", np.broadcast_to(np.array([10, 200, 77], np.uint8), (height, width, 3)).copy()
    yield "noise_gray", random("noise").integers(0, 256, (height, width), np.uint8)
    yield "noise_rgb", random("noise").integers(0, 256, (height, width, 3), np.uint8)
    yield "gradients_rgb", gradients(width, height)
    yield "gradients_gray", gray_of(gradients(width, height))
    yield "sprite_rgba", sprite(width, height, random("sprite"))
    # What repeats across the image, beyond the sight of a narrow sample; in whole bytes even at one bit to a pixel.
    across = max(8, width // 8 * 8)
    desktop, plot = screen(across, height // 2, random("wide screen")), chart(across, height // 2, random("wide chart"))
    yield "screen_tiled_rgb", np.tile(desktop, (1, 4, 1))
    yield "screen_tiled_gray", np.tile(gray_of(desktop), (1, 4))
    yield "chart_tiled_rgb", np.tile(plot, (2, 4, 1))
    yield "chart_tiled_gray", np.tile(gray_of(plot), (2, 4))
    # And what does not repeat in whole bytes there: at one bit to a pixel it repeats eight times more seldom.
    tile = chart(51, 37, random("odd tile"))
    yield "odd_tiles_gray", np.tile(gray_of(tile), (height // 37 + 1, width // 51 + 1))[:height, :width]
    # Noise that comes again at once and, a little further than deflate reaches cheaply, from above.
    tile = random("noise tile").integers(0, 256, (16, 16), np.uint8)
    yield "noise_tiles_gray", np.tile(tile, (height // 16 + 1, width // 16 + 1))[:height, :width]
    # A texture: at most places as good as noise.
    tile = random("texture").integers(0, 256, (60, 201, 3), np.uint8)
    yield "texture_rgb", np.tile(tile, (height // 60 + 1, width // 201 + 1, 1))[:height, :width]
    yield "gray_alpha", np.stack([gray, np.where(blurred > median, 255, 0).astype(np.uint8)], axis=-1)


def main():
    folder = sys.argv[1]
    width, height = (int(v) for v in sys.argv[2:4]) if len(sys.argv) > 3 else (1920, 1080)
    os.makedirs(folder, exist_ok=True)
    for name, image in kinds(width, height):
        Image.fromarray(image).save(os.path.join(folder, name + ".png"), compress_level=6)


if __name__ == "__main__":
    main()
