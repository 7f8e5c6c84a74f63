"""--max-memory, and the bands that follow from it: the same bytes, whatever the bands."""
import pytest

from conftest import pixels

PIPELINES = ["gray | threshold otsu", "equalize", "equalize channel | gray", "gray | equalize | threshold otsu",
             "blur | gray | equalize"]


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_same_bytes(gpuimg, image, tmp_path, pipeline):
    for channels in (1, 2, 3, 4):
        image("a.png", pixels(57, 43, channels))
        whole = gpuimg.ok("run", pipeline, "-v", "a.png", "whole.png")
        for how in ({"env": {"GPUIMG_BAND_ROWS": "1"}}, {"env": {"GPUIMG_BAND_ROWS": "2"}},
                    {"env": {"GPUIMG_BAND_ROWS": "7"}}, {"options": ["--max-memory", "1K"]}):
            result = gpuimg.ok("run", pipeline, "-v", *how.get("options", []), "a.png", "bands.png",
                               env=how.get("env"))
            assert (tmp_path / "bands.png").read_bytes() == (tmp_path / "whole.png").read_bytes(), how
            assert result.err == whole.err, how


def test_reports_are_the_same(gpuimg, image):
    image("a.png", pixels(57, 43, 3))
    whole = gpuimg.ok("run", "equalize | hist", "--format", "json", "a.png").out
    for rows in ("1", "2", "7"):
        assert gpuimg.ok("run", "equalize | hist", "--format", "json", "a.png",
                         env={"GPUIMG_BAND_ROWS": rows}).out == whole


def test_too_little_is_said_and_done_all_the_same(gpuimg, image, tmp_path):
    image("a.png")
    gpuimg.ok("gray", "a.png", "b.png")
    warning = "a.png: warning: a band of one row takes more than the 1 byte allowed"
    result = gpuimg.ok("gray", "--max-memory", "1", "a.png", "c.png")
    assert warning in result.err
    assert (tmp_path / "b.png").read_bytes() == (tmp_path / "c.png").read_bytes()
    # Also where a row is worked on as it lies, or not at all.
    assert warning in gpuimg.ok("hist", "--max-memory", "1", "a.png").err
    image("a.png", pixels(channels=1))
    assert warning in gpuimg.ok("gray", "--max-memory", "1", "a.png", "c.png").err
    assert "warning" not in gpuimg.ok("gray", "--max-memory", "31", "a.png", "c.png").err


def test_workers_share(gpuimg, image, tmp_path):
    for i in range(6):
        image(f"in/{i}.png", pixels(50, 40, 3, seed=i))
    gpuimg.ok("gray", "in", "whole")
    gpuimg.ok("gray", "--max-memory", "2K", "-j", "2", "in", "bands")
    for i in range(6):
        assert (tmp_path / f"bands/{i}.png").read_bytes() == (tmp_path / f"whole/{i}.png").read_bytes()


@pytest.mark.parametrize("value", ["0", "-1", "1T", "K", "1.5G", "", "99999999999999999999"])
def test_refused_values(gpuimg, value):
    assert "--max-memory" in gpuimg.refused("gray", "--max-memory", value, "a.png", "b.png").err
