"""`run --explain`: the plan, printed and not done."""
import re

import pytest

from conftest import encoded, listing, pixels


def value(text, name):
    """The line that begins with `name`, without it."""
    return re.search(rf"^{name} +(.*)$", text, flags=re.M).group(1)


def test_a_nominal_image_stands_in_for_none(gpuimg):
    text = gpuimg.ok("run", "--explain", "gray | threshold otsu").text
    assert value(text, "image").endswith("7680x4320 RGB, 8 bits") and "nominal" in text
    assert re.search(r"^ 1 point +gray weights=601$", text, flags=re.M)
    assert "RGB to gray" in text
    assert re.search(r"first +the histogram of the whole image, for threshold\n 2 point +threshold level=otsu", text)
    assert "step 1, histogram taken, kept whole in memory\n            step 2, encoded\n" in text
    assert value(text, "moved") == "5.00 bytes read and 2.00 written a pixel"
    assert value(text, "memory").endswith("kept whole between 31.6 MiB")


def window(text):
    """Rows of a band, and MiB of decoded rows, of an 8K RGB image."""
    bands, rows = map(int, re.match(r"(\d+) of (\d+) rows?", value(text, "bands")).groups())
    assert bands == -(-4320 // rows)
    number, unit = re.match(r"decoded rows ([0-9.]+) ([KM])iB of 94.9 MiB", value(text, "memory")).groups()
    return rows, float(number) / (1024 if unit == "K" else 1)


def test_bands_are_decoded_as_they_are_needed(gpuimg):
    rows, mib = window(gpuimg.ok("run", "--explain", "gray | threshold 9").text)
    assert rows % 16 == 0 and abs(rows * 7680 * 3 / 2**20 - mib) < 0.06 and mib < 4
    rows, mib = window(gpuimg.ok("run", "--explain", "gray | blur radius=40").text)
    assert rows >= 8 * 40 and abs((rows + 80) * 7680 * 3 / 2**20 - mib) < 0.06
    text = gpuimg.ok("run", "--explain", "equalize").text  # counted first, and then needed again
    assert "the image as it is, histogram taken\n" in text and "step 1, encoded\n" in text
    assert value(text, "memory").startswith("decoded image 94.9 MiB, ")
    text = gpuimg.ok("run", "--explain", "heat steps=5000").text
    assert value(text, "bands") == "one: the whole image, 4320 rows"


def test_of_inputs_only_the_headers_are_read(gpuimg, image, tmp_path):
    image("a.png", pixels(20, 30, 1))
    (tmp_path / "cut.png").write_bytes(encoded(pixels(40, 50, 4))[:60])
    before = listing(tmp_path)
    text = gpuimg.ok("run", "--explain", "gray | threshold 5", "a.png").text
    assert value(text, "image") == "a.png, 30x20 gray, 8 bits"
    assert "gray weights=601 | threshold level=5 (in one pass)" in text
    assert listing(tmp_path) == before
    result = gpuimg("run", "--explain", "gray", "missing.png", "a.png")
    assert result.code == 1 and "missing.png" in result.err and "a.png" in result.text


def test_a_report_has_no_output_that_the_last_name_could_be(gpuimg, image):
    image("a.png", pixels(20, 30, 1))
    result = gpuimg("run", "--explain", "gray | hist", "a.png", "missing.png")
    assert result.code == 1 and "missing.png" in result.err and "a.png" in result.text


def test_equalize_counts_the_luma(gpuimg):
    text = gpuimg.ok("run", "--explain", "equalize | gray").text
    assert "the histogram of the whole image's luma, for equalize" in text
    assert re.search(r"^ 2 point +gray", text, flags=re.M)  # nothing fuses with it
    text = gpuimg.ok("run", "--explain", "equalize channel | gray").text
    assert "equalize mode=channel | gray weights=601 (in one pass" in text


def test_a_sink(gpuimg):
    text = gpuimg.ok("run", "--explain", "gray | hist").text
    assert value(text, " +report") == "histogram of gray"
    assert value(text, "moved") == "4.00 bytes read and 1.00 written a pixel"


def test_bands_follow_from_the_memory(gpuimg):
    text = gpuimg.ok("run", "--explain", "--max-memory", "200K", "gray | threshold otsu").text
    bands, rows = map(int, re.match(r"(\d+) of (\d+) rows?", value(text, "bands")).groups())
    assert rows * 7680 <= 200 << 10 < (rows + 1) * 7680 and bands == -(-4320 // rows)
    assert "step 1, histogram taken" in text and "step 2, encoded" in text
    text = gpuimg.ok("run", "--explain", "gray", env={"GPUIMG_BAND_ROWS": "7"}).text
    assert value(text, "bands").startswith("618 of 7 rows")
    assert "more than --max-memory" in gpuimg.ok("run", "--explain", "--max-memory", "10", "gray").text


def test_jpeg_luma_counts(gpuimg, image):
    image("a.jpg")
    assert "31x24 gray, 8 bits" in gpuimg.ok("run", "--explain", "gray", "a.jpg").text
    assert "31x24 RGB, 8 bits" in gpuimg.ok("run", "--explain", "gray", "--no-jpeg-luma", "a.jpg").text


def test_names_cannot_drive_the_terminal(gpuimg, image):
    image("a\x1b[31m.png")
    assert b"\x1b" not in gpuimg.ok("run", "--explain", "gray", "a\x1b[31m.png").out


def test_only_run_explains(gpuimg):
    assert "is not for gray, but for run" in gpuimg.refused("gray", "--explain", "a.png").err


@pytest.mark.parametrize("pipeline", ["grey", "gray |", ""])
def test_errors_are_those_of_the_run(gpuimg, pipeline):
    said = gpuimg.refused("run", "--explain", pipeline).err
    assert said == gpuimg.refused("run", pipeline, "a.png", "b.png").err


def test_the_command_line_that_would_run(gpuimg, image):
    """With its OUT, as long as that is not there yet."""
    image("a.png")
    image("b.png")
    alone = gpuimg.ok("run", "--explain", "gray", "a.png").text
    assert gpuimg.ok("run", "--explain", "gray", "a.png", "new.png").text == alone
    both = gpuimg.ok("run", "--explain", "gray", "a.png", "b.png").text
    assert both.startswith(alone) and "b.png" in both
    assert gpuimg("run", "--explain", "gray", "new.png").code == 1
