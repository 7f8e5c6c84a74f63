"""tests/bench/end_to_end.py on small images, and README's table of what it writes. GPUIMG is the program."""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/bench"), str(ROOT / "scripts")]

import benchmark_table  # noqa: E402
import end_to_end  # noqa: E402


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    picture = Image.fromarray(np.random.default_rng(1).integers(0, 256, (54, 96, 3), np.uint8))
    names = [f"{stem}.{kind}" for stem in ("photo_8k", "photo_1080") for kind in ("png", "jpg")]
    for kind in ("png", "jpg"):
        (folder / f"{kind}64").mkdir()
        names += [f"{kind}64/img_{i:02d}.{kind}" for i in range(3)]
    for name in (*names, "screen_4k.png", "chart_4k.png"):
        picture.save(folder / name)
    (folder / "images.json").write_text('{"source": "noise"}')
    return folder


def test_figures(images, tmp_path):
    file = tmp_path / "codecs.json"
    subprocess.run([sys.executable, ROOT / "tests/bench/end_to_end.py", os.environ["GPUIMG"], images, "--runs", "1",
                    "--jobs", "8K photo, PNG", "--one-core", "--json", file], check=True, capture_output=True)
    figures = json.loads(file.read_text())
    assert figures["images"] == "noise" and "Pillow" in figures["peers"] and figures["codecs"]
    assert not any("failed" in run for run in figures["runs"])
    assert {run["cores"] for run in figures["runs"]} == {1, figures["cores"]}
    for run in figures["runs"]:
        ours = run["tools"]["gpuimg"]
        assert run["rounds"] == 1 and 0 < ours["min_s"] <= ours["median_s"] and ours["bytes"] > 0 and ours["peak_mb"] > 1
        assert run["best_peer"] in run["tools"] and run["ratio"] > 0


def test_the_tables_rows_are_jobs(images, tmp_path):
    jobs = {job.name for job in end_to_end.Jobs("gpuimg", images, tmp_path, 2).all()}
    assert set(benchmark_table.CODEC_ROWS) <= jobs
    tool = {"median_s": 0.25, "min_s": 0.2, "peak_mb": 10.0, "bytes": 50}
    runs = [{"job": row, "cores": cores, "best_peer": "vips", "ratio": cores + 0.26,
             "tools": {"gpuimg": tool, "vips": {**tool, "median_s": 1.0, "bytes": 100}}}
            for row in benchmark_table.CODEC_ROWS for cores in (2, 1)]
    facts = {"cpu": "CPU", "cores": 2, "simd": "AVX2", "date": "2026-01-01", "commit": "0123456789ab",
             "images": "photos", "peers": {"vips": "8.14.1"}, "runs": runs}
    table = "".join(benchmark_table.codec_table(facts))
    assert table.count("\n| ") == 1 + len(benchmark_table.CODEC_ROWS)
    assert "| gray, 8K photo, PNG to PNG | 0.250 | 1.000 (vips) | 2.3 | 1.3 | 50 % |\n" in table
    assert "| histogram, 8K photo, PNG | 0.250 | 1.000 (vips) | 2.3 | 1.3 |  |\n" in table
    del runs[1::2]  # never run on one core
    assert "| 2.3 |  | 50 % |\n" in "".join(benchmark_table.codec_table(facts))
