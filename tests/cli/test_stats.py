"""--stats, --stats-json and --trace: figures that agree with each other, with the files and with the trace."""
import json
import os
import re

import pytest

from conftest import encoded, pixels

PHASES = ["decode", "upload", "kernels", "download", "encode"]


@pytest.fixture
def batch(image, tmp_path):
    """in/ with 12 images, of which one is damaged."""
    for i in range(11):
        image(f"in/{i:02}.{'jpg' if i % 3 == 0 else 'png'}", pixels(150 + i, 200, seed=i))
    (tmp_path / "in/cut.png").write_bytes(encoded(pixels(200, 200))[:30000])
    return tmp_path


def sizes(directory):
    return sum(path.stat().st_size for path in directory.iterdir())


def spans(path, category):
    return [e for e in json.loads(path.read_bytes())["traceEvents"] if e.get("cat") == category]


def test_figures_agree(gpuimg, batch):
    result = gpuimg("gray", "-j2", "--stats-json", "s.json", "--trace", "t.json", "in", "out")
    stats = json.loads((batch / "s.json").read_bytes())
    assert result.code == 1 and list(stats["phases"]) == PHASES
    assert (stats["images"], stats["failed"], stats["skipped"], stats["not_started"]) == (11, 1, 0, 0)
    whole = sizes(batch / "in") - 30000  # the damaged one was refused
    assert (stats["bytes_in"], stats["bytes_out"]) == (whole, sizes(batch / "out"))
    assert stats["device"] == "cpu" and 1 <= stats["workers"] <= 2
    busy = sum(phase["busy_ms"] for phase in stats["phases"].values())
    assert abs(stats["busy_ms"] - busy) < 0.01 and abs(stats["overlap"] - busy / stats["wall_ms"]) < 0.01
    assert abs(stats["images_per_second"] - 11e3 / stats["wall_ms"]) < 0.01 * stats["images_per_second"]
    assert busy <= stats["workers"] * stats["wall_ms"] and stats["peak_memory_bytes"] > 1e6 and stats["cpu_ms"] > 0
    for name, phase in stats["phases"].items():
        assert phase["wall_ms"] <= phase["busy_ms"] + 0.01 and phase["wall_ms"] <= stats["wall_ms"]
        found = [e for e in spans(batch / "t.json", "phase") if e["name"] == name]
        assert len(found) == phase["spans"] and (len(found) > 0) == (name not in ("upload", "download"))
        assert abs(sum(e["dur"] for e in found) / 1e3 - phase["busy_ms"]) < 0.1


def test_every_phase_of_every_image(gpuimg, batch):
    gpuimg("threshold", "-j2", "--trace", "t.json", "in", "out")
    images, phases = spans(batch / "t.json", "image"), spans(batch / "t.json", "phase")
    names = sorted(f"in/{name}" for name in os.listdir(batch / "in"))
    assert sorted(e["args"]["file"] for e in images) == sorted(e["name"] for e in images) == names
    for image in images:
        ours = sorted((e for e in phases if e["args"] == image["args"]), key=lambda e: e["ts"])
        assert {e["name"] for e in ours} == ({"decode"} if "cut" in image["name"] else {"decode", "kernels", "encode"})
        assert all(e["tid"] == image["tid"] and e["ph"] == "X" for e in ours)
        # Within the image and one after the other; the trace has nanoseconds.
        times = [image["ts"]] + [t for e in ours for t in (e["ts"], e["ts"] + e["dur"])] + [image["ts"] + image["dur"]]
        assert all(a <= b + 0.002 for a, b in zip(times, times[1:]))
    for tid in {e["tid"] for e in images}:
        lane = sorted((e for e in images if e["tid"] == tid), key=lambda e: e["ts"])
        assert all(a["ts"] + a["dur"] <= b["ts"] + 0.002 for a, b in zip(lane, lane[1:]))


def test_in_words(gpuimg, batch):
    (batch / "in/cut.png").unlink()
    result = gpuimg.ok("gray", "-q", "--stats", "in", "out")
    assert result.out == b""
    lines = result.err.splitlines()
    assert [line.split()[0] for line in lines] == ["phase", "decode", "kernels", "encode", "all", "11", lines[-1][0]]
    assert re.fullmatch(r"11 images, [\d.]+ images/s, [\d.]+ MB/s in, [\d.]+ MB/s out", lines[-2])
    assert re.fullmatch(r"\d+ workers on cpu, [\d.]+ s of processor time, [\d.]+ MB of memory at most", lines[-1])


def test_of_a_report(gpuimg, batch):
    gpuimg("hist", "--total", "--stats-json", "s.json", "--trace", "t.json", "-o", "r.json", "in")
    stats = json.loads((batch / "s.json").read_bytes())
    assert stats["images"] == 11 and stats["bytes_out"] == 0 and stats["phases"]["encode"]["spans"] == 0
    assert {e["name"] for e in spans(batch / "t.json", "phase")} == {"decode", "kernels"}


def test_of_nothing_and_to_standard_output(gpuimg, tmp_path):
    (tmp_path / "in").mkdir()
    stats = json.loads(gpuimg.ok("gray", "--stats-json", "-", "--stats", "in", "out").out)
    assert stats["images"] == 0 and stats["images_per_second"] == 0
    assert json.loads(gpuimg.ok("gray", "--trace", "-", "in", "out").out)["traceEvents"]


def test_names_of_any_bytes(gpuimg, image, tmp_path):
    image(b'in/\xff"\\.png')
    image("in/b.png")
    gpuimg.ok("gray", "--trace", "t.json", "in", "out")
    args = [e["args"] for e in spans(tmp_path / "t.json", "image")]
    assert {"file": 'in/\ufffd"\\.png', "file_hex": b'in/\xff"\\.png'.hex()} in args


def test_what_is_refused(gpuimg, batch):
    for option, what in (("--stats-json", "file of statistics"), ("--trace", "trace")):
        assert f"the {what} would replace the input" in gpuimg.refused("gray", option, "in/00.jpg", "in", "out").err
        for name in "out/00.jpg", "./out/00.jpg", "in/../out/00.jpg", batch / "out/00.jpg":
            assert f"the {what} would replace the output" in gpuimg.refused("gray", option, name, "in", "out").err
        result = gpuimg("gray", option, "no/such/x.json", "in", "out")
        assert result.code == 1 and not (batch / "out").exists(), result
        result = gpuimg("gray", option, "/dev/full", "in", "out")
        assert result.code == 1 and "/dev/full: " in result.err and len(os.listdir(batch / "out")) == 11
        for path in (batch / "out").iterdir():
            path.unlink()
        (batch / "out").rmdir()
    (batch / "folder").mkdir()
    (batch / "link").symlink_to("folder")
    (batch / "name").symlink_to("folder/x")
    for one, other in (("x", "x"), ("x", "./x"), ("x", batch / "x"), ("folder/x", "link/x"), ("folder/x", "name"),
                       ("folder/../x", "x"), ("folder/x", "in/../link//x")):
        for a, b in ((one, other), (other, one)):
            refused = gpuimg.refused
            assert "would be one file" in refused("gray", "--trace", a, "--stats-json", b, "in", "out").err, (a, b)
            assert "would be one file" in refused("hist", "--trace", a, "-o", b, "--format", "json", "in").err, (a, b)
    (batch / "s.json").write_text("kept")
    assert gpuimg("gray", "--no-clobber", "--stats-json", "s.json", "in", "out").code == 1
    assert (batch / "s.json").read_text() == "kept"
