"""hist against numpy, scipy and OpenCV, through its JSON report; text and CSV for what they must hold."""

import csv
import json
import math

import cv2
import numpy as np
import pytest

from oracle_images import SIZES, channels_of, random_image, size_name, smooth_image, write_png

try:
    from scipy import stats
except ImportError:
    stats = None

NAMES = {1: ["gray"], 2: ["gray", "alpha"], 3: ["red", "green", "blue"], 4: ["red", "green", "blue", "alpha"]}
CHANNEL_KEYS = {
    "name", "bins", "count", "min", "max", "mean", "std", "median", "percentiles", "entropy", "otsu",
    "clipped_shadows", "clipped_highlights",
}  # fmt: skip
PERCENTILES = [1, 5, 25, 75, 95, 99]


def report(gpuimg, *arguments, command="hist"):
    """The JSON report on stdout."""
    done = gpuimg.run(command, *arguments, "--format", "json")
    return json.loads(done.stdout)


def only_image(document):
    assert document["schema"] == 1
    assert set(document) == {"schema", "images"}
    assert len(document["images"]) == 1
    return document["images"][0]


def entropy_bits(counts):
    if stats:
        return stats.entropy(counts, base=2)
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log2(p)).sum())


def check_channel(channel, name, values, what):
    """`values`: that channel's samples, flat."""
    counts = np.bincount(values, minlength=256)
    below = np.cumsum(counts)
    assert set(channel) == CHANNEL_KEYS
    assert channel["name"] == name
    assert channel["bins"] == counts.tolist(), what
    assert channel["count"] == values.size == sum(channel["bins"])
    assert (channel["min"], channel["max"]) == (values.min(), values.max())
    assert math.isclose(channel["mean"], values.mean(dtype=np.float64), rel_tol=1e-12, abs_tol=1e-12), what
    assert math.isclose(channel["std"], values.std(dtype=np.float64), rel_tol=1e-9, abs_tol=1e-9), what
    assert math.isclose(channel["entropy"], entropy_bits(counts), rel_tol=1e-9, abs_tol=1e-9), what
    assert channel["median"] == np.searchsorted(below * 100, 50 * values.size), what
    assert channel["percentiles"] == {str(p): np.searchsorted(below * 100, p * values.size) for p in PERCENTILES}, what
    assert channel["clipped_shadows"] == np.count_nonzero(values == 0)
    assert channel["clipped_highlights"] == np.count_nonzero(values == 255)
    if values.min() != values.max():  # the same classes as OpenCV's; levels without pixels between them may differ
        level = cv2.threshold(values.reshape(1, -1), 0, 255, cv2.THRESH_OTSU)[0]
        assert np.array_equal(values > channel["otsu"], values > level), what


def check_image(entry, image, what):
    assert set(entry) == {"file", "width", "height", "pixels", "channels"}
    assert (entry["width"], entry["height"]) == (image.shape[1], image.shape[0])
    assert entry["pixels"] == image.shape[0] * image.shape[1]
    names = NAMES[channels_of(image)]
    assert [channel["name"] for channel in entry["channels"]] == names
    samples = image.reshape(-1, len(names))
    for c, name in enumerate(names):
        check_channel(entry["channels"][c], name, np.ascontiguousarray(samples[:, c]), f"{what}, {name}")


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("size", SIZES, ids=size_name)
def test_noise(gpuimg, tmp_path, size, channels):
    image = random_image(size, channels)
    path = write_png(tmp_path / "noise.png", image)
    entry = only_image(report(gpuimg, path))
    assert entry["file"] == str(path)
    check_image(entry, image, size_name(size))


@pytest.mark.parametrize("value", [0, 1, 128, 255])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_constant(gpuimg, tmp_path, channels, value):
    image = np.full((300, 1000, channels), value, np.uint8)
    image = image[..., 0] if channels == 1 else image
    entry = only_image(report(gpuimg, write_png(tmp_path / "flat.png", image)))
    check_image(entry, image, f"all {value}")
    assert entry["channels"][0]["entropy"] == 0
    assert entry["channels"][0]["std"] == 0


def test_every_colour(gpuimg, cube_png):
    for channel in only_image(report(gpuimg, cube_png))["channels"]:
        assert channel["bins"] == [65536] * 256
        assert channel["entropy"] == 8


def test_smooth(gpuimg, tmp_path):
    image = smooth_image((641, 387))
    check_image(only_image(report(gpuimg, write_png(tmp_path / "smooth.png", image))), image, "smooth")


@pytest.mark.parametrize("bins", [1, 2, 3, 7, 100, 255, 256])
def test_bins(gpuimg, tmp_path, bins):
    image = random_image((123, 45), 3)
    path = write_png(tmp_path / "noise.png", image)
    exact, coarse = only_image(report(gpuimg, path)), only_image(report(gpuimg, "--bins", bins, path))
    for c in range(3):
        into = np.arange(256) * bins // 256
        expected = np.bincount(into[image[..., c].ravel()], minlength=bins)
        assert coarse["channels"][c]["bins"] == expected.tolist()
        # Statistics come from the exact counts whatever the bins.
        assert {**coarse["channels"][c], "bins": 0} == {**exact["channels"][c], "bins": 0}


def test_more_bins_than_levels_is_a_usage_error(gpuimg, tmp_path):
    gpuimg.run("hist", "--bins", 65537, write_png(tmp_path / "noise.png", random_image((3, 3), 1)), expect=2)


def test_pipeline_into_hist(gpuimg, tmp_path):
    image = random_image((200, 100), 3)
    path = write_png(tmp_path / "noise.png", image)
    entry = only_image(report(gpuimg, "gray | hist", path, command="run"))
    check_image(entry, cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), "gray | hist")
    entry = only_image(report(gpuimg, "threshold 99 | hist", path, command="run"))
    check_image(entry, cv2.threshold(image, 99, 255, cv2.THRESH_BINARY)[1], "threshold | hist")


def test_several_inputs_in_order(gpuimg, tmp_path):
    images = [random_image((10 + i, 20), 1 + i) for i in range(4)]
    paths = [write_png(tmp_path / f"{3 - i}.png", image) for i, image in enumerate(images)]
    document = report(gpuimg, "-j", 2, *paths)
    assert [entry["file"] for entry in document["images"]] == list(map(str, paths))
    for entry, image in zip(document["images"], images):
        check_image(entry, image, entry["file"])


def test_total_adds_up(gpuimg, tmp_path):
    images = [random_image((30 + i, 20), 3, seed=i) for i in range(3)]
    paths = [write_png(tmp_path / f"{i}.png", image) for i, image in enumerate(images)]
    entry = only_image(report(gpuimg, "--total", *paths))
    everything = np.concatenate([image.reshape(-1, 3) for image in images])
    assert entry["pixels"] == len(everything)
    for c, name in enumerate(NAMES[3]):
        check_channel(entry["channels"][c], name, np.ascontiguousarray(everything[:, c]), f"total, {name}")


def test_file_output_equals_stdout(gpuimg, tmp_path):
    path = write_png(tmp_path / "noise.png", random_image((50, 40), 4))
    for extension in ("json", "csv", "txt"):
        target = tmp_path / f"report.{extension}"
        assert gpuimg.run("hist", "-o", target, path).stdout == ""
        said = gpuimg.run("hist", "--format", extension, path).stdout
        assert target.read_text() == said
    assert gpuimg.run("hist", path).stdout == said  # text is the default


def test_unknown_extension_is_a_usage_error(gpuimg, tmp_path):
    path = write_png(tmp_path / "noise.png", random_image((5, 4), 1))
    gpuimg.run("hist", "-o", tmp_path / "report.doc", path, expect=2)
    assert not (tmp_path / "report.doc").exists()


def test_csv_holds_the_counts(gpuimg, tmp_path):
    image = random_image((64, 48), 3)
    path = write_png(tmp_path / "noise.png", image)
    rows = list(csv.DictReader(gpuimg.run("hist", "--format", "csv", path).stdout.splitlines()))
    for c, name in enumerate(NAMES[3]):
        counts = [int(row["count"]) for row in rows if row["channel"] == name]
        assert counts == np.bincount(image[..., c].ravel(), minlength=256).tolist()


def test_text_names_file_and_channels(gpuimg, tmp_path):
    path = write_png(tmp_path / "noise.png", random_image((64, 48), 4))
    said = gpuimg.run("hist", path).stdout
    for word in [str(path), "64", "48", *NAMES[4]]:
        assert word in said
