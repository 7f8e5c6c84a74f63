"""`run --pipeline-file`."""
import numpy as np
import pytest
from PIL import Image

from conftest import gray601
from test_pipelines import caret


@pytest.fixture
def put(tmp_path):
    def write(text, name="p.txt"):
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name
    return write


def test_lines_and_comments(gpuimg, image, put, tmp_path):
    a = image("a.png")
    put("# black and white\r\ngray\t# first\n  | threshold\n    level=100 # | gray 709\n")
    gpuimg.ok("run", "--pipeline-file", "p.txt", "a.png", "b.png")
    assert np.array_equal(np.array(Image.open(tmp_path / "b.png").convert("L")), np.where(gray601(a) > 100, 255, 0))


def test_standard_input_and_sinks(gpuimg, image):
    a = image("a.png")
    result = gpuimg.ok("run", "--pipeline-file", "-", "--format", "csv", "a.png", stdin=b"gray\n| hist\n")
    rows = [line.split(",") for line in result.text.splitlines()[1:]]
    assert [int(row[5]) for row in rows] == np.bincount(gray601(a).ravel(), minlength=256).tolist()


@pytest.mark.parametrize("text,place,said", [
    ("grey", "1:1", "did you mean 'gray'"),
    ("gray\n| threshold 70000 # too much\n", "2:13", "from 0 to 65535"),
    ("# é\ngray | # é\n\n   thresold", "4:4", "did you mean 'threshold'"),
    ("gray weights=601\n  weights=709", "2:3", "twice"),
    ("gray |\n\n", "1:6", "empty"),
    ("", "", "empty"), ("# nothing\n", "1:1", "empty"),
])
def test_errors_name_line_and_column(gpuimg, put, text, place, said):
    put(text)
    result = gpuimg.refused("run", "--pipeline-file", "p.txt", "a.png", "b.png")
    first = result.err.splitlines()[0]
    assert said in first
    assert first.startswith(f"gpuimg: p.txt:{place}: " if place else "gpuimg: p.txt")


def test_the_caret_is_in_the_line_of_the_file(gpuimg, put):
    put("gray # one\n| threshold 70000 # two\n| gray\n")
    result = gpuimg.refused("run", "--pipeline-file", "p.txt", "a.png", "b.png")
    assert "  | threshold 70000 # two" in result.err.splitlines()
    assert caret(result) == "70000"


def test_files_that_are_no_text(gpuimg, put, tmp_path):
    assert gpuimg("run", "--pipeline-file", "none.txt", "a.png", "b.png").code == 1
    assert "NUL" in gpuimg.refused("run", "--pipeline-file", put(b"gray\0"), "a.png", "b.png").err
    result = gpuimg.refused("run", "--pipeline-file", put(b"\xff\x1b[31m"), "a.png", "b.png")
    assert "\x1b" not in result.err
    assert "longer" in gpuimg.refused("run", "--pipeline-file", put("gray |" * 20000), "a.png", "b.png").err
    assert gpuimg("run", "--pipeline-file", str(tmp_path), "a.png", "b.png").code == 1


def test_a_byte_order_mark_is_no_stage(gpuimg, image, put, tmp_path):
    image("a.png")
    put(b"\xef\xbb\xbfgray\r\n")
    gpuimg.ok("run", "--pipeline-file", "p.txt", "a.png", "b.png")
    assert Image.open(tmp_path / "b.png").mode == "L"


def test_files_without_an_end_are_not_read_to_it(gpuimg):
    assert "larger than 1048576 bytes" in gpuimg.refused("run", "--pipeline-file", "/dev/zero", "a.png", "b.png").err


def test_only_run_takes_one(gpuimg, put):
    assert "is not for gray" in gpuimg.refused("gray", "--pipeline-file", put("gray"), "a.png", "b.png").err
