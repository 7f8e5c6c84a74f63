"""bench: every demonstration runs small, in every format; what is refused; what is said without a GPU."""
import csv
import io
import json
import os
import re
import signal
import xml.etree.ElementTree

import pytest

from conftest import decoded

UNIT = re.compile(r"\b(ms|us|ns)\b|/s\b")
SOURCE = os.path.join(os.path.dirname(__file__), "..", "..", "src", "bench", "demos.h")


def names():
    with open(SOURCE) as file:
        text = file.read().replace("\\\n", " ")
    return re.findall(r"DEMO\((\w+)\)", re.search(r"#define GI_DEMOS\(DEMO\)(.*)", text).group(1))


def test_the_list(gpuimg):
    text = gpuimg.ok("bench").text
    assert re.findall(r"^  (\S+) +\S", text.split("\n\n")[0], re.M) == names() and names()[0] == "add"
    assert gpuimg.ok("bench", "--list").text == gpuimg.ok("bench", "all", "--list").text == text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("name", names())
def test_each_demonstration(gpuimg, name):
    result = gpuimg.ok("bench", name, "--quick", "--device", "cpu", "-j", "2", "--json", "out.json", "--csv", "out.csv",
                       "--plot", "out.png")
    assert result.err == ""
    assert f"\n{name}: " in result.text and "GPU  none used: the CPU alone was asked for" in result.text
    assert max(map(len, result.text.splitlines())) <= 100
    with open(gpuimg.directory / "out.json") as file:
        data = json.load(file)
    assert data["schema"] == 1 and data["quick"] and data["gpu"] is None and data["threads"] == 2
    demo, = data["demos"]
    assert demo["name"] == name and demo["failed"] is None and demo["tables"] and demo["lesson"]
    measured, why = 0, 0
    for table in demo["tables"]:
        assert table["rows"] and table["bar"] in table["columns"] and table["title"] in result.text
        for row in table["rows"]:
            assert row["label"] in result.text
            if "why" in row:
                why += row["why"] == "the CPU alone was asked for"
            else:
                assert set(row) == {"label", *table["columns"]}
                measured += any(isinstance(row[column], (int, float)) for column in table["columns"])
        numbers = {column for row in table["rows"] for column in table["columns"]
                   if isinstance(row.get(column), (int, float))}
        assert table["bar"] in numbers or not numbers
    assert measured and (why or name == "threads")  # which is about the CPU alone
    with open(gpuimg.directory / "out.csv") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["demo", "table", "row", "column", "value"] and len(rows) > measured
    assert {row[0] for row in rows[1:]} == {name} and {len(row) for row in rows} == {5}
    with open(gpuimg.directory / "out.png", "rb") as file:
        image = decoded(file.read())
    # Three lines say what was measured on, the last of them --quick; then each table with its rows that were measured.
    assert result.text.count("the CPU alone was asked for") == 1
    rows = [sum("why" not in row for row in table["rows"]) for table in demo["tables"]]
    assert image.size == (900, 34 + 3 * 18 + sum(86 + 26 * count for count in rows if count))
    assert all(UNIT.search(table["bar"]) for table, count in zip(demo["tables"], rows) if count) or name in ("ilp", "threads")


def test_formats_on_standard_output(gpuimg):
    name = names()[0]
    data = json.loads(gpuimg.ok("bench", name, "--quick", "--device", "cpu", "--json", "-", "--plot", "a.SVG").out)
    assert [demo["name"] for demo in data["demos"]] == [name]
    root = xml.etree.ElementTree.parse(gpuimg.directory / "a.SVG").getroot()
    tables = data["demos"][0]["tables"]
    assert len(root.findall("{http://www.w3.org/2000/svg}g")) == 1 + len(tables)
    text = gpuimg.ok("bench", name, "--quick", "--device", "cpu", "--csv", "-").text
    assert next(csv.reader(io.StringIO(text))) == ["demo", "table", "row", "column", "value"]


def test_each_once(gpuimg):
    name = names()[0]
    data = json.loads(gpuimg.ok("bench", name, name, "--quick", "--device", "cpu", "--json", "-").out)
    assert len(data["demos"]) == 1


def test_the_size(gpuimg):
    out = gpuimg.ok("bench", "add", "--n", "10k", "--device", "cpu").text
    assert "10000 elements" in out


@pytest.mark.parametrize("arguments,reason", [
    (["ad"], "did you mean 'add'?"), (["Add"], "did you mean 'add'?"), (["alll"], "did you mean 'all'?"),
    (["qqqqqqqq"], "'gpuimg bench' lists them"), (["add", "nonesuch"], "unknown demonstration 'nonesuch'"),
    (["add", "--plot", "a.gif"], "ends in .svg or .png"), (["add", "--plot", "-"], "ends in .svg or .png"),
    (["add", "--json", "-", "--csv", "-"], "both JSON and CSV"), (["add", "--json", "x", "--csv", "x"], "x and x are one file"),
    (["add", "--json", "x", "--csv", "./x"], "x and ./x are one file"),
    (["add", "--n", "0"], "--n must be"), (["add", "--n", "many"], "--n must be"), (["add", "-j", "0"], "--workers must be"),
    (["add", "--quality", "3"], "--quality is not for bench"), (["--jsn", "x"], "did you mean '--json'?"),
])
def test_usage(gpuimg, arguments, reason):
    assert reason in gpuimg.refused("bench", *arguments).err


@pytest.mark.parametrize("name", ["add", "reduce", "sort", "median"])
def test_more_than_memory(gpuimg, name):
    result = gpuimg("bench", name, "--quick", "--device", "cpu", "--n", "1000G")
    assert result.code == 1, result
    assert re.search(rf"^gpuimg: bench {name}: no memory for .* \d+\.\d GB of memory are free, "
                     "too little for --n 1000000000000$", result.err, re.M), result


@pytest.mark.parametrize("name,most", [("matmul", 65536), ("diffusion", 2**30), ("launch", 2**30), ("texture", 16384),
                                       ("points", 65535), ("hist", 65535), ("heat", 65535)])
def test_more_than_a_demonstration_can_do(gpuimg, name, most):
    """Is not taken for the most."""
    result = gpuimg("bench", name, "--quick", "--device", "cpu", "--n", str(most + 1))
    assert result.code == 1, result
    assert result.err == f"gpuimg: bench {name}: --n {most + 1} is past {most}, the most that it can do\n"


def test_options_of_its_own(gpuimg):
    assert "is not for gray, but for bench" in gpuimg.refused("gray", "--quick", "a.png", "b.png").err


def test_an_output_that_cannot_be(gpuimg):
    result = gpuimg("bench", "add", "--quick", "--device", "cpu", "--json", "missing/out.json")
    assert result.code == 1 and "missing/out.json" in result.err and result.out == b""


def test_no_device(gpuimg):
    env = {"CUDA_VISIBLE_DEVICES": ""}
    result = gpuimg("bench", "add", "--quick", "--device", "cuda", env=env)
    assert result.code == 3 and result.out == b"" and result.err.startswith("gpuimg: device cuda: ")
    assert "GPU  none used: " in gpuimg.ok("bench", "add", "--quick", env=env).text
    assert "variable GPUIMG_DEVICE" in gpuimg.refused("bench", "add", env={"GPUIMG_DEVICE": "tpu"}).err


def test_an_interrupt(gpuimg):
    process = gpuimg.start("bench", "add", "diffusion", "--n", "1M", "--device", "cpu", "--json", "out.json")
    assert process.stdout.readline().startswith(b"CPU  ")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"diffusion:" not in out and os.listdir(gpuimg.directory) == []


def test_plots_of_all(gpuimg):
    """No label is cut, and why there is no GPU is said once."""
    gpuimg.ok("bench", "all", "--quick", "--device", "cpu", "-j", "2", "--plot", "a.svg")
    texts = [text.text for text in xml.etree.ElementTree.parse(gpuimg.directory / "a.svg").iter(
        "{http://www.w3.org/2000/svg}text")]
    assert not [text for text in texts if "..." in text]
    assert len([text for text in texts if "the CPU alone was asked for" in text]) == 1
    assert "sectors" not in texts and "cycles a read" not in texts  # which are known without measuring
