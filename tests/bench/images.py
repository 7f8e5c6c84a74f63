#!/usr/bin/env python3
"""Images for tests/bench/end_to_end.py, the same on every machine: images.py FOLDER [--drawn]

Compressed sizes are what codecs are measured by, and those of drawings are not those of photographs. So photographs of
Debian's wallpaper packages are taken (apt-get download, which needs no root), cropped, scaled, and given the noise of a
sensor, which scaling had smoothed away. Beside them: what is no photograph, a page of windows with text and a chart.
--drawn takes the landscape of samples/ in the place of photographs, for machines without those packages.

    photo_8k, photo_1080  .png and .jpg (quality 90)
    screen_4k.png, chart_4k.png
    png64/, jpg64/        64 different images of 1920x1080

Needs NumPy and Pillow, and about 400 MB of disk.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image, ImageDraw

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "samples"))

import landscape  # noqa: E402

PACKAGES = ("lomiri-wallpapers-16.04", "mate-backgrounds")
TEXT = pathlib.Path("/usr/share/common-licenses/GPL-3")
BATCH = 64

# ---- photographs ------------------------------------------------------------------------------------------------------


def unpacked(folder):
    """Photographs of the packages, unpacked below the folder, in the order of their names."""
    try:
        subprocess.run(["apt-get", "-q", "download", *PACKAGES], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        for package in sorted(folder.glob("*.deb")):
            subprocess.run(["dpkg", "-x", package, folder], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"{' and '.join(PACKAGES)} cannot be fetched ({error}): --drawn does without")
    backgrounds = folder / "usr/share/backgrounds"
    found = sorted({*backgrounds.glob("*_by_*.jpg"), *backgrounds.glob("mate/nature/*.jpg")})
    # Drawn patterns among them, and small pictures, are no photographs.
    return [path for path in found if not {"pattern", "greentock"} & set(path.stem.replace("_", " ").split())
            and path.stat().st_size > 100_000]


def drawn(folder):
    """Landscapes in several lights."""
    base = landscape.draw(1920, 1080).astype(np.float32)
    paths = []
    for i in range(4):
        light = np.array([1.0 + 0.1 * i, 1.0, 1.0 - 0.1 * i], np.float32)
        paths.append(folder / f"landscape_{i}.png")
        Image.fromarray(np.clip(base[:, ::(-1) ** i] * light, 0, 255).astype(np.uint8)).resize((3840, 2160)).save(paths[-1])
    return paths


def part(path, size, random=None):
    """The largest part of the photograph of that shape, scaled; somewhere in it, and smaller, where `random` says so."""
    picture = Image.open(path).convert("RGB")
    scale = min(picture.width / size[0], picture.height / size[1])
    if random:
        scale *= max(min(1.0, 1 / scale), random.uniform(0.6, 1.0))
    width, height = min(scale * size[0], picture.width), min(scale * size[1], picture.height)
    where = (random.uniform, random.uniform) if random else (lambda low, high: high / 2,) * 2
    left, top = where[0](0, picture.width - width), where[1](0, picture.height - height)
    return np.asarray(picture.resize(size, Image.Resampling.LANCZOS, box=(left, top, left + width, top + height)))


def as_by_a_sensor(pixels, random, read, shot):
    """Gaussian noise of standard deviation sqrt(read^2 + shot * level), which is alike in the channels by half, and in
    neighbours too, as interpolation of a sensor's colours leaves it."""
    made = np.empty_like(pixels)
    for y in range(0, len(pixels), 256):  # all at once would take gigabytes
        rows = pixels[y:y + 256].astype(np.float32)
        height, width, channels = rows.shape
        common = random.standard_normal((height + 2, width + 2, 1), np.float32)
        grain = common + random.standard_normal((height + 2, width + 2, channels), np.float32)
        near = grain[1:-1, :-2] + grain[1:-1, 2:] + grain[:-2, 1:-1] + grain[2:, 1:-1]
        grain = (grain[1:-1, 1:-1] + 0.25 * near) / np.float32((2 * (1 + 4 * 0.25 ** 2)) ** 0.5)
        made[y:y + 256] = np.clip(np.rint(rows + grain * np.sqrt(read * read + shot * rows)), 0, 255)
    return made


# ---- what is no photograph --------------------------------------------------------------------------------------------


def screen(photo):
    """Windows of text on a plain ground, and a photograph in one."""
    image = Image.new("RGB", (3840, 2160), (38, 50, 56))
    draw = ImageDraw.Draw(image)
    lines = (TEXT.read_text() if TEXT.exists() else (ROOT / "CONTRIBUTING.md").read_text()).splitlines()
    for number in range(8):
        x, y, dark = 40 + number % 4 * 950, 60 + number // 4 * 1050, number % 3 == 1
        draw.rectangle((x, y, x + 900, y + 1000), (33, 37, 43) if dark else (250, 250, 250))
        draw.rectangle((x, y, x + 900, y + 30), (97, 97, 97))
        for row in range(64):
            text = lines[(80 * number + row) % len(lines)][:140]
            draw.text((x + 10, y + 40 + 15 * row), text, fill=(171, 178, 191) if dark else (30, 30, 30))
    image.paste(Image.fromarray(photo), (2900, 1200))
    return image


def chart(random):
    """Curves and a grid on white."""
    image = Image.new("RGB", (3840, 2160), "white")
    draw = ImageDraw.Draw(image)
    for y in range(120, 2160, 240):
        draw.line((120, y, 3720, y), (224, 224, 224), 2)
    for colour in ((31, 119, 180), (255, 127, 14), (44, 160, 44), (214, 39, 40)):
        heights = np.clip(1080 + np.cumsum(random.normal(0, 10, 1800)), 130, 2030)
        draw.line([(120 + 2 * i, float(height)) for i, height in enumerate(heights)], colour, 3)
    return image


# ---- all of it --------------------------------------------------------------------------------------------------------


def save(pixels, stem, kinds=("png", "jpg")):
    for kind in kinds:
        Image.fromarray(pixels).save(f"{stem}.{kind}", **({"quality": 90} if kind == "jpg" else {"compress_level": 6}))


def make(folder, photographs):
    random = np.random.default_rng(2160)
    wide = sorted(photographs, key=lambda path: -Image.open(path).width)[:4]  # no photograph has 8K itself
    quarters = [part(path, (3840, 2160)) for path in wide]
    whole = np.vstack([np.hstack(quarters[:2]), np.hstack(quarters[2:])])
    save(as_by_a_sensor(whole, random, 2.8, 0.36), folder / "photo_8k")
    save(as_by_a_sensor(part(wide[1], (1920, 1080)), random, 1.8, 0.2), folder / "photo_1080")
    screen(part(wide[0], (800, 600))).save(folder / "screen_4k.png")
    chart(random).save(folder / "chart_4k.png")
    for name in ("png64", "jpg64"):
        (folder / name).mkdir(exist_ok=True)
    for i in range(BATCH):
        random = np.random.default_rng(i)
        pixels = part(photographs[i % len(photographs)], (1920, 1080), random)
        pixels = as_by_a_sensor(pixels, random, random.uniform(0.8, 2), random.uniform(0.02, 0.1))
        for kind in ("png", "jpg"):
            save(pixels, folder / f"{kind}64" / f"img_{i:02d}", (kind,))


def main():
    parser = argparse.ArgumentParser(description="Makes the images that the codecs are measured with.")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--drawn", action="store_true", help="of the samples' landscape, not of Debian's photographs")
    options = parser.parse_args()
    Image.MAX_IMAGE_PIXELS = None
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as sources:
        take = drawn if options.drawn else unpacked
        make(options.folder, take(pathlib.Path(sources)))
    source = "drawn landscapes" if options.drawn else f"photographs of Debian's {' and '.join(PACKAGES)}"
    (options.folder / "images.json").write_text(json.dumps({"source": source}) + "\n")


if __name__ == "__main__":
    main()
