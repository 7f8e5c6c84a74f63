"""Several GPUs, and what each did when: the program (env GPUIMG) over the fake runtime, which shows as many devices as a
test asks for, or on those of the machine, where a test that needs more is skipped."""
import functools
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

PROGRAM = os.environ["GPUIMG"]
WORKS = ["upload", "kernels", "download"]
FAKE = "no GPU but a test of one, sm_90"


@functools.cache
def real():
    """What the machine's devices are, as the program lists them; none over the fake runtime."""
    text = subprocess.run([PROGRAM, "info"], env={**os.environ, "FAKE_CUDA_DEVICES": "1"}, capture_output=True, text=True,
                          check=True, timeout=120).stdout
    found = re.findall(r"^  cuda:\d+ +(.+, sm_\d+),", text, re.M)
    assert found, text
    return [] if FAKE in found else found


def about(device):
    return real()[device] if real() else FAKE


def need(devices):
    if real() and len(real()) < devices:
        pytest.skip(f"{devices} devices are needed, and there are {len(real())}")


def show(devices):
    """The variable that has the program see so many."""
    if not real():
        return {"FAKE_CUDA_DEVICES": str(devices)}
    visible = os.environ.get("CUDA_VISIBLE_DEVICES") or ",".join(str(i) for i in range(len(real())))
    return {"CUDA_VISIBLE_DEVICES": ",".join(visible.split(",")[:devices])}


@pytest.fixture(autouse=True)
def images(tmp_path):
    (tmp_path / "in").mkdir()
    for i in range(12):
        pixels = np.random.default_rng(i).integers(0, 256, (60 + 9 * i, 80, 3), np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"in/{i:02}.{'png' if i % 2 else 'jpg'}")


def run(tmp_path, *args, devices=2, **env):
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("GPUIMG_")}, "OMP_NUM_THREADS": "1",
           **show(devices), **env}
    done = subprocess.run([PROGRAM, *args], cwd=tmp_path, env=env, capture_output=True, timeout=120)
    return done.returncode, done.stderr.decode()


def contents(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.parametrize("pipeline", ["gray", "blur radius=3 | threshold otsu", "equalize"])
@pytest.mark.parametrize("device,devices", [("cuda:all", 1), ("cuda:all", 2), ("cuda:1,0", 3), ("cuda:2", 3)])
def test_the_same_bytes(tmp_path, pipeline, device, devices):
    need(devices)
    assert run(tmp_path, "run", pipeline, "-q", "--device", "cpu", "in", "cpu") == (0, "")
    for i, slots in enumerate((("-j4",), ("-j4", "--slots", "1"), ("-j4", "--slots", "3", "--streams", "1"))):
        assert run(tmp_path, "run", pipeline, "-q", "--device", device, *slots, "in", f"{i}", devices=devices) == (0, "")
        assert contents(tmp_path / f"{i}") == contents(tmp_path / "cpu")


def test_repeats(tmp_path):
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../gpu/same_bytes.py")
    done = subprocess.run([sys.executable, script, PROGRAM, "--device", "cuda:all", "--repeats", "12"], capture_output=True,
                          text=True, env={**os.environ, "FAKE_CUDA_DEVICES": "3"}, timeout=240)
    assert done.returncode == 0 and "on cuda:all alike" in done.stdout, done


def test_names(tmp_path):
    there = min(3, len(real()) or 3)
    code, said = run(tmp_path, "gray", "-v", "--device", "cuda:all", "in", "out", devices=3)
    assert code == 0 and re.findall(r"device (cuda:\d+) \((.+)\): as asked for", said) == [
        (f"cuda:{i}", about(i)) for i in range(there)], said
    code, said = run(tmp_path, "gray", "-v", "--device", "cuda:all", "in", "out", devices=1)
    assert code == 0 and "device cuda:0 (" in said and "cuda:1" not in said
    code, said = run(tmp_path, "gray", "--device", "cuda:0,5", "in", "none", devices=2)
    assert code == 3 and "there is no CUDA device 5" in said and not (tmp_path / "none").exists()
    code, said = run(tmp_path, "gray", "--device", "cuda:all", "in", "none", devices=0)
    why = "no CUDA device is visible" if real() else "the NVIDIA driver shows no CUDA device"
    assert code == 3 and f"device cuda:all: {why}" in said


def cover(spans):
    """The time that they cover, and their sum."""
    sum_, covered, end = 0, 0, 0
    for begin, duration in sorted(spans):
        sum_ += duration
        covered += max(0, begin + duration - max(begin, end))
        end = max(end, begin + duration)
    return covered, sum_


@pytest.mark.parametrize("args", [("gray", "--no-jpeg-luma"), ("blur", "--radius", "9"), ("equalize",)])
def test_what_each_did_when(tmp_path, args):
    need(2)
    code, said = run(tmp_path, *args, "--device", "cuda:all", "-j2", "--stats", "--stats-json", "s.json", "--trace",
                     "t.json", "in", "out", GPUIMG_BAND_ROWS="16")
    assert code == 0, said
    stats = json.loads((tmp_path / "s.json").read_text())
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    assert stats["device"] == "cuda:0, cuda:1" and [d["name"] for d in stats["devices"]] == ["cuda:0", "cuda:1"]
    named = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert named == {1: "gpuimg", 2: f"cuda:0 ({about(0)})", 3: f"cuda:1 ({about(1)})"}
    threads = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    images = {e["args"]["file"] for e in events if e.get("cat") == "image"}
    assert len(images) == 12
    assert {e["args"]["file"] for e in events if e.get("cat") == "device"} == images  # of one device, perhaps
    for i, device in enumerate(stats["devices"]):
        ours = [e for e in events if e.get("cat") == "device" and e["pid"] == i + 2]
        assert {(e["pid"], e["tid"]) for e in ours} <= threads
        for work in WORKS:
            spans = [(e["ts"], e["dur"]) for e in ours if e["name"] == work]
            covered, sum_ = cover(spans)
            assert len(spans) == device[work]["spans"]
            assert bool(spans) == bool(ours)
            assert device[work]["busy_ms"] == pytest.approx(sum_ / 1e3, abs=0.05)
            assert device[work]["wall_ms"] == pytest.approx(covered / 1e3, abs=0.05)
        assert device["wall_ms"] == pytest.approx(cover([(e["ts"], e["dur"]) for e in ours])[0] / 1e3, abs=0.05)
        assert device["first_ms"] == pytest.approx(min((e["ts"] for e in ours), default=0) / 1e3, abs=0.01)
        assert f"{device['name']}: upload " in said
    assert "2 workers on cuda:0, cuda:1, " in said


def test_the_wait_for_a_device_that_starts(tmp_path):
    """A trace shows it apart from work, and no statistics count it."""
    code, said = run(tmp_path, "blur", "--device", "cuda", "-j3", "-q", "--stats-json", "s.json", "--trace", "t.json", "in",
                     "out", FAKE_CUDA_START_MS="400")
    assert code == 0, said
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    waits = [e for e in events if e.get("cat") == "wait"]
    assert 0 < len(waits) <= 3 and {e["name"] for e in waits} == {"start"} and len({e["tid"] for e in waits}) == len(waits)
    first = min(e["ts"] for e in events if e.get("cat") == "device")
    assert all(e["dur"] > 0 and e["ts"] < first for e in waits) and min(e["ts"] + e["dur"] for e in waits) <= first
    assert "start" not in json.loads((tmp_path / "s.json").read_text())["phases"]


def test_none_of_its_own_on_the_cpu(tmp_path):
    run(tmp_path, "gray", "--device", "cpu", "--stats-json", "s.json", "in", "out")
    assert "devices" not in json.loads((tmp_path / "s.json").read_text())


def test_a_lost_device_leaves_its_images_to_the_other(tmp_path):
    need(2)
    run(tmp_path, "blur", "--device", "cpu", "-q", "in", "cpu")
    # The wait for an image fails, and the look whether its stream is alive.
    code, said = run(tmp_path, "blur", "-j1", "--device", "cuda:all", "in", "out", GPUIMG_CUDA_FAULT="lost@3-4")
    assert code == 0 and said.count("; done on another device") == 1 and said.endswith("gpuimg: 12 done\n"), said
    assert contents(tmp_path / "out") == contents(tmp_path / "cpu")
    code, said = run(tmp_path, "blur", "-j1", "--device", "cuda:all", "in", "none", GPUIMG_CUDA_FAULT="lost")
    lines = said.splitlines()
    assert code == 3 and len(lines) == 3 and lines[0].endswith("; done on another device"), said
    assert "is lost to this process" in lines[1] and not list((tmp_path / "none").iterdir())
