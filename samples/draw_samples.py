#!/usr/bin/python3
"""Draws the sample images. Needs numpy, Pillow and the DejaVu fonts (Debian: python3-numpy python3-pil fonts-dejavu-core).

    samples/draw_samples.py [FOLDER]     all of them, into FOLDER (this one when left out)
    samples/draw_samples.py --8k FILE    the landscape at 7680 x 4320"""
import argparse
import pathlib

import landscape
import numpy as np
from PIL import Image, ImageDraw, ImageFont

FONTS = pathlib.Path("/usr/share/fonts/truetype/dejavu")
SCALE = 4  # flat art is drawn this much larger, then reduced, for smooth edges


def font(name, size):
    return ImageFont.truetype(str(FONTS / f"{name}.ttf"), size)


def chart():
    """An odd-sized chart with flat areas, text, thin lines and a translucent, round-cornered ground."""
    width, height = 641, 387
    image = Image.new("RGBA", (width * SCALE, height * SCALE), (255, 255, 255, 0))
    draw = ImageDraw.Draw(image)

    def box(left, top, right, bottom, fill, radius=0):
        place = [v * SCALE for v in (left, top, right, bottom)]
        draw.rounded_rectangle(place, radius * SCALE, fill=fill)

    box(8, 8, 633, 379, (246, 247, 250, 232), 18)
    for step in range(6):
        y = 312 - 44 * step
        draw.line([70 * SCALE, y * SCALE, 606 * SCALE, y * SCALE], fill=(202, 206, 216, 255), width=SCALE)
    colours = ((38, 84, 124), (239, 71, 111), (255, 209, 102), (6, 214, 160), (17, 138, 178), (110, 68, 160))
    values = (96, 171, 214, 132, 188, 61)
    for i, (colour, value) in enumerate(zip(colours, values)):
        box(86 + 88 * i, 312 - value, 140 + 88 * i, 312, colour + (255,))
        box(140 + 88 * i, 312 - value * 2 // 3, 152 + 88 * i, 312, colour + (110,))
    line = [(113 + 88 * i, 290 - v) for i, v in enumerate((60, 92, 150, 178, 140, 196))]
    draw.line([(x * SCALE, y * SCALE) for x, y in line], fill=(40, 44, 58, 255), width=3 * SCALE, joint="curve")
    for x, y in line:
        draw.ellipse([(x - 5) * SCALE, (y - 5) * SCALE, (x + 5) * SCALE, (y + 5) * SCALE], fill=(255, 255, 255, 255),
                     outline=(40, 44, 58, 255), width=3 * SCALE)
    image = image.resize((width, height), Image.LANCZOS)
    draw = ImageDraw.Draw(image)
    ink = (40, 44, 58, 255)
    draw.text((26, 20), "Light through six filters", font=font("DejaVuSans-Bold", 20), fill=ink)
    small = font("DejaVuSans", 12)
    for step in range(6):
        draw.text((60, 312 - 44 * step), str(20 * step), font=small, fill=ink, anchor="rm")
    for i, name in enumerate(("blue", "red", "yellow", "green", "cyan", "violet")):
        draw.text((119 + 88 * i, 326), name, font=small, fill=ink, anchor="mm")
    draw.text((320, 356), "per cent of the open beam; pale: with a second pane", font=small, fill=(96, 102, 120, 255),
              anchor="mm")
    return image


def scan():
    """A typed page, gray, under uneven light with paper grain: what threshold otsu is for."""
    width, height = 620, 480
    page = Image.new("L", (width, height), 255)
    draw = ImageDraw.Draw(page)
    draw.text((56, 44), "On the making of thresholds", font=font("DejaVuSerif-Bold", 24), fill=20)
    text = ("A page under a lamp is never white. Its paper",
            "is bright near the lamp and dull in the far",
            "corner, and the ink is no deeper than the",
            "darkest gray. Yet two heaps of gray remain, and",
            "between them lies one level that parts them",
            "best: it makes the spread within each heap",
            "least, and so the spread between them most.",
            "Count every sample, try every level, and keep",
            "the best. Nothing is guessed: the counts are",
            "exact, and so is the level that they give.")
    for i, row in enumerate(text):
        draw.text((56, 96 + 33 * i), row, font=font("DejaVuSerif", 19), fill=30)
    draw.line([56, 438, 330, 438], fill=60, width=2)
    ink = np.asarray(page, dtype=np.float64) / 255.0
    x = np.broadcast_to((np.arange(width) / width)[None, :], ink.shape)
    y = np.broadcast_to((np.arange(height) / height)[:, None], ink.shape)
    lamp = 176.0 + 66.0 / (1.0 + 2.4 * ((x - 0.25) * (x - 0.25) + (y - 0.15) * (y - 0.15)))
    fibre = landscape.fractal(x * 60.0, y * 45.0, 501, 4) - 0.5
    rows, columns = np.indices(ink.shape)
    grain = landscape.hash01(columns, rows, 502) + landscape.hash01(columns, rows, 503) - 1.0
    shade = lamp * (0.30 + 0.70 * ink) + 16.0 * fibre + 5.0 * grain
    return Image.fromarray(np.clip(np.floor(shade + 0.5), 0, 255).astype(np.uint8), "L")


def portrait():
    """A balloon over hills, upright; 300 x 400."""
    width, height = 300, 400
    y = (np.arange(height * SCALE) / (height * SCALE))[:, None, None]
    ground = np.array((92.0, 158.0, 214.0)) * (1.0 - y) + np.array((236.0, 224.0, 206.0)) * y
    image = Image.fromarray(np.broadcast_to(np.floor(ground + 0.5), (height * SCALE, width * SCALE, 3)).astype(np.uint8))
    draw = ImageDraw.Draw(image)

    def ellipse(left, top, right, bottom, fill):
        draw.ellipse([v * SCALE for v in (left, top, right, bottom)], fill=fill)

    def polygon(points, fill):
        draw.polygon([(px * SCALE, py * SCALE) for px, py in points], fill=fill)

    for left, top, size in ((20, 60, 60), (50, 48, 74), (86, 64, 56), (214, 150, 44), (232, 138, 60)):
        ellipse(left, top, left + size, top + size * 0.52, (250, 250, 252))
    ellipse(-120, 296, 220, 560, (112, 150, 96))
    ellipse(110, 316, 460, 600, (84, 128, 82))
    for i, colour in enumerate(((216, 60, 52), (246, 200, 80), (216, 60, 52))):
        ellipse(78 + 24 * i, 84, 222 - 24 * i, 250, colour)
    polygon(((96, 212), (204, 212), (166, 272), (134, 272)), (190, 48, 44))
    polygon(((122, 216), (178, 216), (158, 272), (142, 272)), (246, 200, 80))
    for px, qx in ((136, 138), (164, 162)):
        draw.line([px * SCALE, 272 * SCALE, qx * SCALE, 292 * SCALE], fill=(70, 52, 44), width=2 * SCALE)
    polygon(((134, 290), (166, 290), (162, 314), (138, 314)), (128, 88, 56))
    image = image.resize((width, height), Image.LANCZOS)
    ImageDraw.Draw(image).text((150, 376), "this way up", font=font("DejaVuSans-Bold", 18), fill=(255, 255, 255), anchor="mm")
    return image


def save_turned(image, path):
    """Stores the pixels lying on their side, with the EXIF orientation 6 that sets them upright (turn clockwise)."""
    exif = Image.Exif()
    exif[0x0112] = 6
    image.transpose(Image.ROTATE_90).save(path, quality=88, exif=exif)


def draw_all(folder):
    Image.fromarray(landscape.draw(960, 540)).save(folder / "landscape.png", optimize=True)
    chart().save(folder / "chart.png", optimize=True)
    scan().save(folder / "scan.png", optimize=True)
    save_turned(portrait(), folder / "portrait_exif6.jpg")


def main():
    parser = argparse.ArgumentParser(description="Draws the sample images.")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent)
    parser.add_argument("--8k", dest="large", metavar="FILE", help="draw only the landscape, at 7680 x 4320, into FILE")
    arguments = parser.parse_args()
    if arguments.large:
        Image.fromarray(landscape.draw(7680, 4320)).save(arguments.large)
    else:
        arguments.folder.mkdir(parents=True, exist_ok=True)
        draw_all(arguments.folder)


if __name__ == "__main__":
    main()
