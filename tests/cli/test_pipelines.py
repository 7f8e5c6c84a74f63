"""`run`: stages, their options, and errors with a caret under the place."""
import numpy as np
import pytest
from PIL import Image

from conftest import gray601


def caret(result):
    """The text that the caret line underlines."""
    lines = result.err.splitlines()
    at = next(i for i, line in enumerate(lines) if line.strip().startswith("^"))
    source, mark = lines[at - 1], lines[at]
    assert source.startswith("  ") and set(mark.strip()) <= {"^", "~"}
    return source[mark.index("^"):len(mark)]


def test_stages_in_order(gpuimg, image, tmp_path):
    a = image("a.png")
    gpuimg.ok("run", "gray | threshold level=100", "a.png", "b.png")
    assert np.array_equal(np.array(Image.open(tmp_path / "b.png").convert("L")), np.where(gray601(a) > 100, 255, 0))


@pytest.mark.parametrize("pipeline", ["gray 709|threshold 100", "gray weights=709 | threshold level=100",
                                      "  gray\t709 |threshold 100  "])
def test_a_bare_word_sets_the_first_option(gpuimg, image, tmp_path, pipeline):
    image("a.png")
    gpuimg.ok("run", pipeline, "a.png", "b.png")
    gpuimg.ok("gray", "--weights", "709", "a.png", "g.png")
    gpuimg.ok("threshold", "--level", "100", "g.png", "c.png")
    assert (tmp_path / "b.png").read_bytes() == (tmp_path / "c.png").read_bytes()


def test_run_of_one_stage_equals_its_command(gpuimg, image, tmp_path):
    image("a.png")
    gpuimg.ok("threshold", "--level", "otsu", "a.png", "b.png")
    gpuimg.ok("run", "threshold otsu", "a.png", "c.png")
    assert (tmp_path / "b.png").read_bytes() == (tmp_path / "c.png").read_bytes()


@pytest.mark.parametrize("pipeline,place,said", [
    ("gray | grey", "grey", "did you mean 'gray'?"), ("thresold otsu", "thresold", "did you mean 'threshold'?"),
    ("gray weight=601", "weight", "did you mean 'weights'?"), ("gray 602", "602", "601, 709 or linear"),
    ("threshold level=70000", "70000", "from 0 to 65535"), ("hist | gray", "hist", "last"),
    ("gray | | hist", None, "empty"), ("gray |", None, "empty"), ("| gray", None, "empty"),
])
def test_errors_have_a_caret_under_the_place(gpuimg, image, pipeline, place, said):
    image("a.png")
    result = gpuimg.refused("run", pipeline, "a.png", "b.png")
    assert said in result.err.splitlines()[0]
    shown = caret(result)
    if place:
        assert shown.startswith(place) or place.endswith(shown), result


def test_empty_pipeline(gpuimg):
    assert "empty" in gpuimg.refused("run", "", "a.png", "b.png").err
    assert "empty" in gpuimg.refused("run", "  ", "a.png", "b.png").err


def test_the_caret_of_a_long_pipeline_is_in_a_window(gpuimg):
    pipeline = "gray | " * 30 + "grey | " + "gray | " * 20 + "gray"
    result = gpuimg.refused("run", pipeline, "a.png", "b.png")
    assert caret(result) == "grey"
    assert max(map(len, result.err.splitlines())) <= 80


def test_the_caret_stands_right_after_wide_and_odd_characters(gpuimg):
    for before in ("gray\t", "gray\x01", "gräy", "gray\udcff"):
        result = gpuimg.refused("run", "gray | gray | grey " + before, "a.png", "b.png")
        assert caret(result) == "grey"
    result = gpuimg.refused("run", "\x1b[31m\x07", "a.png", "b.png")
    assert "\x1b" not in result.err and "\x07" not in result.err


def test_a_measuring_pipeline_reports(gpuimg, image):
    a = image("a.png")
    result = gpuimg.ok("run", "gray | hist", "--format", "csv", "a.png")
    rows = [line.split(",") for line in result.text.splitlines()[1:]]
    assert {row[1] for row in rows} == {"gray"}
    assert [int(row[5]) for row in rows] == np.bincount(gray601(a).ravel(), minlength=256).tolist()


def test_otsus_level_is_said_under_v(gpuimg, image):
    image("a.png")
    assert "a.png: otsu level " in gpuimg.ok("run", "threshold otsu", "-v", "a.png", "b.png").err
