"""Golden hashes: the same bytes from release to release and on every device.

golden.json holds the SHA-256 of the raw pixels (rows from the top, samples interleaved, no padding) that each pipeline
makes of an image, and of the counts (64 bits, little endian) where the pipeline measures. The images come from integer
formulas below, so that they are the same everywhere and for ever.

A changed hash is a changed promise to users. When the change is meant, or a case was added:
    GPUIMG=build/bin/gpuimg python3 tests/golden/test_golden.py --update
and say in the commit why.
"""

import hashlib
import json
import pathlib
import sys
import tempfile

import numpy as np
import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "oracle"))

from oracle_images import read_png, write_png  # noqa: E402
from oracle_program import Gpuimg  # noqa: E402

GOLDEN = HERE / "golden.json"
SIZES = [(1, 1), (15, 1), (1, 15), (17, 31), (641, 387)]  # width, height
NAMES = {1: "gray", 2: "gray+alpha", 3: "rgb", 4: "rgba"}


def waves(x, y, c):
    """Smooth triangle waves, a period and a phase for each channel."""
    return abs((x * (3 + c) + y * (5 - c) + 40 * c) % 510 - 255)


def scramble(x, y, c):
    """Every level, in no order that a person sees (Knuth's multiplicative hashing)."""
    return ((x * 73856093 ^ y * 19349663 ^ c * 83492791) * 2654435761 % 2**32) >> 24


def spots(x, y, c):
    """A dark ground and bright discs, for levels found from the histogram."""
    inside = (x % 40 - 20) ** 2 + (y % 40 - 20) ** 2 < 150
    return 60 + 15 * c + scramble(x, y, c) // 8 + 110 * inside


def fine(x, y, c):
    """Sixteen bits, the lower ones in no order."""
    return waves(x, y, c) * 256 + scramble(y, x, c)


FORMULAS = {"waves": waves, "scramble": scramble, "spots": spots, "fine": fine}
PIPELINES = [
    "gray",
    "gray 709",
    "gray linear",
    "threshold",
    "threshold 0",
    "threshold 200",
    "threshold otsu",
    "gray | threshold 77",
    "threshold 77 | gray 709",
    "gray linear | threshold otsu",
    "equalize",
    "equalize channel",
    "gray | equalize",
    "equalize | threshold otsu",
    "blur",
    "blur radius=9 border=replicate",
    "blur radius=9 border=shrink",
    "blur radius=9 border=constant value=40",
    "blur radius=700",
    "blur sigma=0.6",
    "blur sigma=3",
    "blur sigma=3 border=replicate",
    "blur sigma=3 border=shrink",
    "blur sigma=3 border=constant value=40",
    "blur sigma=40",
    "gray | blur sigma=2 | threshold otsu",
    "heat",
    "heat steps=3 inner=7",
    "heat mode=linear",
    "heat mode=linear steps=12 alpha=1 dt=0.25",
    "heat mode=linear steps=2 | equalize",
    "hist",
    "gray | hist",
]


def make_image(formula, size, channels):
    y, x = np.mgrid[0 : size[1], 0 : size[0]].astype(np.int64)
    image = np.stack([FORMULAS[formula](x, y, c) for c in range(channels)], axis=-1)
    image = image.astype(np.uint16 if formula == "fine" else np.uint8)
    return image[..., 0] if channels == 1 else image


def image_cases():
    """(name, arguments of make_image): each formula with each number of channels, the sizes in turn and one in full."""
    for formula in FORMULAS:
        for channels in NAMES:
            sizes = {"scramble": SIZES, "fine": SIZES[-2:]}.get(formula, SIZES[-1:])
            for size in sizes:
                yield f"{formula} {NAMES[channels]} {size[0]}x{size[1]}", (formula, size, channels)


IMAGES = dict(image_cases())


def sha256(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def draw_images(folder):
    """Writes every image as a PNG; returns the paths in the order of IMAGES."""
    paths = [folder / f"{i:03}.png" for i in range(len(IMAGES))]
    for path, arguments in zip(paths, IMAGES.values()):
        write_png(path, make_image(*arguments))
    return paths


def measure(gpuimg, pipeline, paths):
    """{image name: hash} of one pipeline over all images, in one run."""
    if pipeline.endswith("hist"):
        report = json.loads(gpuimg.run("run", pipeline, "--format", "json", *paths).stdout)
        results = [np.array([c["bins"] for c in entry["channels"]], "<u8") for entry in report["images"]]
    else:
        gpuimg.run("run", pipeline, "--png-level", 1, *paths, gpuimg.folder / "out")
        results = [read_png(gpuimg.folder / "out" / path.name) for path in paths]
    return {name: sha256(result) for name, result in zip(IMAGES, results, strict=True)}


@pytest.fixture(scope="module")
def golden():
    return json.loads(GOLDEN.read_text())


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return draw_images(tmp_path_factory.mktemp("images"))


def test_images_are_the_same(golden):
    assert {name: sha256(make_image(*arguments)) for name, arguments in IMAGES.items()} == golden["input"]


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_golden(pipeline, golden, paths, tmp_path):
    assert measure(Gpuimg(tmp_path), pipeline, paths) == golden["output"].get(pipeline)


def test_no_stale_cases(golden):
    assert list(golden["output"]) == PIPELINES


def update():
    document = {"input": {name: sha256(make_image(*arguments)) for name, arguments in IMAGES.items()}, "output": {}}
    for pipeline in PIPELINES:
        with tempfile.TemporaryDirectory() as folder:
            paths = draw_images(pathlib.Path(folder))
            document["output"][pipeline] = measure(Gpuimg(folder), pipeline, paths)
    GOLDEN.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        sys.exit(__doc__)
    update()
