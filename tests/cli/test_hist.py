"""hist: text, JSON and CSV reports; several inputs, totals, sinks."""
import csv
import io
import json
import os
import re

import numpy as np
import pytest
from PIL import Image

from conftest import gray601, pixels


def report(gpuimg, *args, **options):
    return json.loads(gpuimg.ok("hist", "--format", "json", *args, **options).text)


@pytest.mark.parametrize("channels,names", [(1, ["gray"]), (2, ["gray", "alpha"]), (3, ["red", "green", "blue"]),
                                            (4, ["red", "green", "blue", "alpha"])])
def test_json(gpuimg, image, channels, names):
    a = image("a.png", pixels(37, 41, channels))
    document = report(gpuimg, "a.png")
    assert document["schema"] == 1 and len(document["images"]) == 1
    entry = document["images"][0]
    assert list(entry) == ["file", "width", "height", "pixels", "channels"]
    assert (entry["file"], entry["width"], entry["height"], entry["pixels"]) == ("a.png", 41, 37, 41 * 37)
    assert [c["name"] for c in entry["channels"]] == names
    for i, channel in enumerate(entry["channels"]):
        values = a.reshape(-1, channels)[:, i].astype(np.int64)
        assert list(channel) == ["name", "bins", "count", "min", "max", "mean", "std", "median", "percentiles",
                                 "entropy", "otsu", "clipped_shadows", "clipped_highlights"]
        assert channel["bins"] == np.bincount(values, minlength=256).tolist()
        assert channel["count"] == sum(channel["bins"]) == 41 * 37
        assert (channel["min"], channel["max"]) == (values.min(), values.max())
        assert channel["mean"] == values.sum() / values.size
        assert abs(channel["std"] - values.std()) < 1e-9
        assert list(channel["percentiles"]) == ["1", "5", "25", "75", "95", "99"]
        assert channel["clipped_shadows"] == (values == 0).sum()
        assert channel["clipped_highlights"] == (values == 255).sum()


def test_numbers_read_back_exactly(gpuimg, image):
    image("a.png", np.array([[0, 0, 1]], np.uint8))
    text = gpuimg.ok("hist", "--format", "json", "a.png", env={"LC_ALL": "de_DE.UTF-8"}).text
    assert json.loads(text)["images"][0]["channels"][0]["mean"] == 1 / 3


@pytest.mark.parametrize("bins", [1, 3, 16, 100, 256])
def test_csv_and_bins(gpuimg, image, bins):
    a = image("a.png", pixels(20, 30, 1))
    text = gpuimg.ok("hist", "--format", "csv", "--bins", str(bins), "a.png").text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == ["file", "channel", "bin", "from", "to", "count"]
    assert [int(r["count"]) for r in rows] == np.bincount(a.ravel().astype(int) * bins // 256, minlength=bins).tolist()
    assert [(int(r["from"]), int(r["to"])) for r in rows][-1][1] == 255
    assert all(int(x["to"]) + 1 == int(y["from"]) for x, y in zip(rows, rows[1:]))
    assert {r["file"] for r in rows} == {"a.png"} and {r["channel"] for r in rows} == {"gray"}


def test_more_bins_than_levels(gpuimg, image):
    image("a.png")
    result = gpuimg("hist", "--bins", "257", "a.png")
    assert result.code == 1 and "a.png: " in result.err and "256" in result.err
    assert "from 0 to 65536" in gpuimg.refused("hist", "--bins", "65537", "a.png").err


@pytest.mark.parametrize("name,begin", [("r.json", '{"schema":1,'), ("r.JSON", '{"schema":1,'), ("r.Csv", "file,channel"),
                                        ("r.txt", "a.png: 31 x 24, RGB, 744 pixels\n")])
def test_o_chooses_by_extension(gpuimg, image, tmp_path, name, begin):
    image("a.png")
    result = gpuimg.ok("hist", "-o", name, "a.png")
    assert result.out == b"" and (tmp_path / name).read_text().startswith(begin)


def test_unknown_extensions(gpuimg, image, tmp_path):
    image("a.png")
    for name in ("r.xyz", "r", "r.json.gz"):
        err = gpuimg.refused("hist", "a.png", "-o", name).err
        assert ".txt" in err and ".json" in err and ".csv" in err
    gpuimg.ok("hist", "a.png", "-o", "r.xyz", "--format", "json")
    assert json.loads((tmp_path / "r.xyz").read_text())["schema"] == 1
    gpuimg.refused("hist", "--format", "jpg", "a.png")
    assert gpuimg.ok("hist", "-o", "-", "a.png").text == gpuimg.ok("hist", "a.png").text


@pytest.mark.parametrize("command", [("hist",), ("run", "gray | hist")])
def test_an_output_as_operand_is_told_of_o(gpuimg, image, tmp_path, command):
    image("a.png")
    err = gpuimg.refused(*command, "a.png", "r.json").err
    assert "'r.json' does not exist" in err and "-o" in err
    assert gpuimg(*command, "a.png", "missing.png").code == 1


def test_several_inputs_in_order(gpuimg, image, tmp_path):
    names = [f"{i}.png" for i in (3, 1, 2, 0)]
    for name in names:
        image(name)
    text = gpuimg.ok("hist", "-j4", *names).text
    assert [line.split(":")[0] for line in text.splitlines() if " pixels" in line and ": " in line] == names
    gpuimg.ok("hist", *names, "-o", "r.json")
    assert [i["file"] for i in json.loads((tmp_path / "r.json").read_text())["images"]] == names


def test_a_directory_in_order(gpuimg, image):
    names = [f"in/{i:02}.png" for i in range(40)]
    for name in names:
        image(name, pixels(5, 6))
    assert [i["file"] for i in report(gpuimg, "-j8", "in")["images"]] == names


def test_total(gpuimg, image):
    a, b = image("a.png", pixels(10, 11, 3)), image("b.png", pixels(12, 13, 3, seed=2))
    c = image("c.png", pixels(14, 15, 2, seed=3))
    entries = report(gpuimg, "--total", "a.png", "b.png", "c.png")["images"]
    assert len(entries) == 1
    total = entries[0]
    assert (total["file"], total["files"], total["pixels"]) == ("total", 3, 110 + 156 + 210)
    expected = {"gray": c[..., :1], "alpha": c[..., 1:]}
    expected = {name: np.bincount(v.ravel(), minlength=256) for name, v in expected.items()}
    for i, name in enumerate(("red", "green", "blue")):
        expected[name] = np.bincount(np.concatenate([a[..., i].ravel(), b[..., i].ravel()]), minlength=256)
    assert {ch["name"]: ch["bins"] for ch in total["channels"]} == {n: v.tolist() for n, v in expected.items()}
    assert gpuimg.ok("hist", "--total", "a.png", "b.png").text.startswith("total: 2 images, 266 pixels\n")


def test_failed_files_are_left_out(gpuimg, image):
    image("a.png")
    result = gpuimg("hist", "--format", "json", "nix.png", "a.png", "nix2.png")
    assert result.code == 1 and [i["file"] for i in json.loads(result.text)["images"]] == ["a.png"]
    assert gpuimg("hist", "--total", "nix.png", "nix2.png").out == b""


def test_standard_input(gpuimg, image, tmp_path):
    image("a.png")
    assert report(gpuimg, "-", stdin=(tmp_path / "a.png").read_bytes())["images"][0]["file"] == "-"


def test_names_in_reports(gpuimg, image):
    names = ['q"uo,te.png', "back\\slash.png", "tab\t.png", "café.png", "bad\udce9.png", "a\x1b[31m.png"]
    for name in names:
        image(name)
    entries = report(gpuimg, *names)["images"]
    assert [e["file"] for e in entries] == [n.replace("\udce9", "\ufffd") for n in names]
    assert [bytes.fromhex(e["file_hex"]) for e in entries if "file_hex" in e] == [os.fsencode("bad\udce9.png")]
    text = gpuimg.ok("hist", "--format", "csv", *names).out.decode("utf-8", "surrogateescape")
    assert list(dict.fromkeys(row["file"] for row in csv.DictReader(io.StringIO(text)))) == names
    assert b"\x1b" not in gpuimg.ok("hist", names[-1]).out


def test_a_name_does_not_drive_the_terminal(gpuimg, image):
    name = "a,\x1b[31m\r.png"
    image(name)
    for form in ("txt", "csv", "json"):
        master, terminal = os.openpty()
        process = gpuimg.start("hist", "--format", form, "--bins=1", name, stdout=terminal)
        os.close(terminal)
        seen = b""
        while True:
            try:
                seen += os.read(master, 4096)
            except OSError:
                break
        os.close(master)
        assert process.wait(60) == 0 and b"31m" in seen
        assert b"\x1b[31m\r" not in seen
        assert form != "csv" or b'"a,\\x1b[31m\\r.png",' in seen


def test_the_pipelines_result_is_reported(gpuimg, image, tmp_path):
    a = image("a.png")
    gpuimg.ok("run", "gray | hist bins=16", "a.png", "-o", "r.json")
    channel = json.loads((tmp_path / "r.json").read_text())["images"][0]["channels"][0]
    assert channel["bins"] == np.bincount(gray601(a).ravel() // 16, minlength=16).tolist()
    assert channel["mean"] == gray601(a).sum() / gray601(a).size


@pytest.mark.parametrize("columns", [10, 20, 29, 40, 80, 120, 200])
def test_plots_fit_the_width(gpuimg, image, columns):
    image("a.png")
    lines = gpuimg.ok("hist", "a.png", env={"COLUMNS": str(columns)}).text.splitlines()
    plots = lines[next(i for i, line in enumerate(lines) if line.startswith("red,")):]
    assert any("█" in line for line in plots)
    assert columns < 80 or max(map(len, lines)) <= columns
    assert max(map(len, plots)) <= max(columns, 20)  # what is asked for, as far as there is room for a plot
    labels = [line.split() for line in plots if line.endswith("255")]
    assert len(labels) == 3 and all(label[0] == "0" for label in labels)
    assert all(line == line.rstrip() for line in lines)


@pytest.mark.parametrize("columns", [20, 29, 40, 60, 79])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_tables_fit_the_width(gpuimg, image, columns, channels):
    """Too narrow for its tables, a terminal has the channels side by side, as far as they fit."""
    image("a.png", pixels(40, 50, channels))
    text = gpuimg.ok("hist", "a.png", env={"COLUMNS": str(columns)}).text
    tables = text[text.index("\n\n") + 2:].split(", share of the")[0].rsplit("\n\n", 1)[0]
    assert max(map(len, tables.splitlines())) <= columns
    found, names = {}, []
    for line in tables.splitlines():
        label, *cells = line[:8].strip(), *line[8:].replace("< ", "<").split()
        if not label and cells and cells[0].isalpha():
            names = cells
        elif label:
            found |= {(name, label): cell for name, cell in zip(names, cells, strict=True)}
    channel_reports = json.loads(gpuimg.ok("hist", "--format", "json", "a.png").out)["images"][0]["channels"]
    assert len(found) == 15 * channels == 15 * len(channel_reports)
    for channel in channel_reports:
        expected = {"min": channel["min"], "median": channel["median"], "max": channel["max"],
                    "mean": f"{channel['mean']:.2f}", "std": f"{channel['std']:.2f}",
                    "entropy": f"{channel['entropy']:.4f}", "Otsu": channel["otsu"],
                    "at 0": channel["clipped_shadows"], "at 255": channel["clipped_highlights"]}
        expected |= {f"{point}%": level for point, level in channel["percentiles"].items()}
        for label, value in expected.items():
            assert found[channel["name"], label] == str(value)


def test_ascii_where_the_locale_is(gpuimg, image):
    image("a.png")
    out = gpuimg.ok("hist", "a.png", env={"LC_ALL": "C"}).out
    assert max(out) < 0x80 and b"#" in out


@pytest.mark.parametrize("env,coloured", [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colour_on_a_terminal_only(gpuimg, image, env, coloured):
    image("a.png")
    assert b"\x1b" not in gpuimg.ok("hist", "a.png").out
    master, terminal = os.openpty()
    process = gpuimg.start("hist", "--bins", "8", "a.png", stdout=terminal, env_extra=env)
    os.close(terminal)
    data = b""
    try:
        while piece := os.read(master, 65536):
            data += piece
    except OSError:  # EIO: the other side is closed
        pass
    os.close(master)
    assert process.wait(timeout=20) == 0 and (b"\x1b[31m" in data) == coloured
    process.communicate()


def test_a_report_never_replaces_its_input(gpuimg, image, tmp_path):
    image("a.json", kind="PNG")
    image("b.png")
    (tmp_path / "link.json").symlink_to("a.json")
    os.link(tmp_path / "a.json", tmp_path / "twin.json")
    (tmp_path / "folder").mkdir()
    for name in ["a.json", "./a.json", "link.json", "folder/../a.json", "twin.json"]:
        assert "would replace the input a.json" in gpuimg.refused("hist", "b.png", "a.json", "-o", name).err
    gpuimg.ok("hist", "b.png", "-o", "a.json")


def test_shares_of_16_bits(gpuimg, tmp_path):
    """Each level is of next to no pixels: columns are named as plots name them, and the scale has digits that count."""
    values = np.arange(256 * 256, dtype=np.uint16).reshape(256, 256)
    Image.fromarray(values).save(tmp_path / "a.png")
    text = gpuimg.ok("hist", "a.png").text
    assert "65536" in text or "65535" in text
    columns = int(re.search(r"gray, share of the pixels in each of (\d+) bins\n", text)[1])
    top = float(re.search(r"^ *(\S+)% [┤|]", text, re.M)[1])
    assert abs(top - 100 / columns) < 0.1 and "1 (< 0.01%)" in text
    values = np.zeros((256, 256), np.uint8)
    values[0, 0] = 255
    Image.fromarray(values).save(tmp_path / "b.png")
    assert "1 (< 0.01%)" in gpuimg.ok("hist", "b.png").text


@pytest.fixture
def flawed(image, tmp_path):
    """A folder with an image that is well, one cut short that decodes in part, and one that does not."""
    image("in/a.png")
    image("in/b.jpg", pixels(64, 64))
    (tmp_path / "in/b.jpg").write_bytes((tmp_path / "in/b.jpg").read_bytes()[:-60])
    (tmp_path / "in/c.png").write_bytes((tmp_path / "in/a.png").read_bytes()[:-30])
    return tmp_path


def test_a_report_tells_what_failed_and_what_is_damaged(gpuimg, flawed):
    result = gpuimg("hist", "-j", "1", "--format", "json", "in")
    document = json.loads(result.text)
    assert result.code == 1 and [image["file"] for image in document["images"]] == ["in/a.png", "in/b.jpg"]
    assert [flaw["file"] for flaw in document["failed"]] == ["in/c.png"]
    assert f"gpuimg: in/c.png: {document['failed'][0]['reason']}\n" in result.err
    assert [flaw["file"] for flaw in document["damaged"]] == ["in/b.jpg"]
    assert f"gpuimg: in/b.jpg: warning: {document['damaged'][0]['reason']}\n" in result.err
    text = gpuimg("hist", "in").text
    assert text.endswith("\nnot in this report:\n  in/c.png: " + document["failed"][0]["reason"] +
                         "\n\ndamaged, and counted as far as decoded:\n  in/b.jpg: " + document["damaged"][0]["reason"] + "\n")
    (flawed / "in/b.jpg").unlink()
    (flawed / "in/c.png").unlink()
    assert set(json.loads(gpuimg.ok("hist", "--format", "json", "in").text)) == {"schema", "images"}
    assert "report" not in gpuimg.ok("hist", "in").text and "damaged" not in gpuimg.ok("hist", "in").text


def test_a_total_counts_what_failed_and_what_is_damaged(gpuimg, flawed):
    """And reports that are added up have the sums, whether they are of shares or of images."""
    total = gpuimg("hist", "--total", "--format", "json", "in").out
    document = json.loads(total)
    assert (document["failed_files"], document["damaged_files"], document["images"][0]["files"]) == (1, 1, 2)
    shares = [f"{i}.json" for i in range(1, 6)]
    for i, name in enumerate(shares, 1):
        gpuimg("hist", "--total", "--shard", f"{i}/5", "-o", name, "in")
    assert gpuimg.ok("hist", "--merge", "--format", "json", *shares).out == total
    gpuimg("hist", "-o", "list.json", "in")
    assert gpuimg.ok("hist", "--merge", "--format", "json", "list.json").out == total
    text = gpuimg("hist", "--total", "in").text
    assert text == gpuimg.ok("hist", "--merge", *shares).text
    assert text.endswith("\n1 file failed, and is not in it\n\n1 file in it is damaged\n")
