"""--shard: shares that make the whole, the same for any order and place; Slurm's variables; results that merge."""
import json
import os
import random
import re
import shutil

import pytest

from conftest import Program, encoded, pixels

N = 3


@pytest.fixture
def tree(image, tmp_path):
    """in/ with images of several formats, sizes and kinds, some of them below a folder, one damaged."""
    for i in range(24):
        channels = (1, 3, 4)[i % 3]
        name = f"{i:02}.jpg" if i % 4 == 0 and channels < 4 else f"{i:02}.png"
        image(f"in/{'sub/' if i % 5 == 0 else ''}{name}", pixels(20 + i, 90 - i, channels, seed=i))
    (tmp_path / "in/cut.png").write_bytes(encoded(pixels())[:200])
    return tmp_path


def files(directory):
    return {os.path.relpath(os.path.join(root, name), directory): open(os.path.join(root, name), "rb").read()
            for root, _, names in os.walk(directory) for name in names}


def records(path):
    """The lines without their times."""
    return sorted(json.dumps({k: v for k, v in json.loads(line).items() if k != "ms"})
                  for line in path.read_text().splitlines())


def test_shares_make_the_whole(gpuimg, tree):
    gpuimg("gray", "-r", "--manifest", "whole.jsonl", "in", "out")
    seen = {}
    for i in range(1, N + 1):
        result = gpuimg("gray", "-r", "--shard", f"{i}/{N}", "--manifest", f"{i}.jsonl", "in", f"part{i}")
        part = files(tree / f"part{i}")
        assert part and not seen.keys() & part.keys() and result.code in (0, 1)
        seen.update(part)
    assert seen == files(tree / "out")
    joined = "".join((tree / f"{i}.jsonl").read_text() for i in range(1, N + 1))
    (tree / "joined.jsonl").write_text(re.sub('"part[123]/', '"out/', joined))
    assert records(tree / "joined.jsonl") == records(tree / "whole.jsonl")


def test_reports_of_shares_merge(gpuimg, tree):
    gpuimg("hist", "-r", "--total", "-o", "whole.json", "in")
    for i in range(1, 31):  # more shares than images
        gpuimg("hist", "-r", "--total", "--shard", f"{i}/30", "-o", f"{i}.json", "in")
    parts = [f"{i}.json" for i in range(1, 31)]  # of the damaged image's share, too, where that is all there is
    random.Random(1).shuffle(parts)
    gpuimg.ok("hist", "--merge", "-o", "merged.json", *parts)
    assert (tree / "merged.json").read_bytes() == (tree / "whole.json").read_bytes()


def test_a_share_of_which_all_failed_reports_that_alone(gpuimg, tmp_path):
    (tmp_path / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\nrubbish")
    for total in ((), ("--total",)):
        codes = [gpuimg("hist", *total, "--shard", f"{i}/2", "-o", f"{i}.json", "bad.png").code for i in (1, 2)]
        assert sorted(codes) == [0, 1]
        reports = [json.loads((tmp_path / f"{i}.json").read_text()) for i in (1, 2)]
        assert all(report["images"] == [] for report in reports)
        assert sorted(len(report) for report in reports) == [2, 3]  # the one that had it tells that it failed
        gpuimg.ok("hist", "--merge", "-o", "merged.json", "1.json", "2.json")
        assert json.loads((tmp_path / "merged.json").read_text())["failed_files"] == 1
    assert gpuimg("hist", "-o", "whole.json", "bad.png").code == 1 and not (tmp_path / "whole.json").exists()
    assert gpuimg("hist", "--fail-fast", "--shard", "1/1", "-o", "fast.json", "bad.png").code == 1


def test_the_share_is_by_the_relative_name(gpuimg, tree):
    gpuimg("gray", "-r", "--shard", "1/2", "in", "a")
    names = files(tree / "a").keys()
    shutil.move(tree / "in", tree / "elsewhere")
    gpuimg("gray", "-r", "--shard", "1/2", f"{tree}/elsewhere/", "b")
    assert files(tree / "b").keys() == names
    # Named one by one from within, in any order.
    inputs = sorted(files(tree / "elsewhere"))
    random.Random(2).shuffle(inputs)
    (tree / "list").write_text("\n".join(f"./{name}" for name in inputs))
    inside = Program(gpuimg.path, tree / "elsewhere")
    text = inside("hist", "--shard", "1/2", "--format", "json", "--files-from", "../list").text
    assert {image["file"][2:] for image in json.loads(text)["images"]} == names


def test_auto(gpuimg, tree):
    array = {"SLURM_ARRAY_TASK_ID": "12", "SLURM_ARRAY_TASK_COUNT": "2", "SLURM_ARRAY_TASK_MIN": "11"}
    gpuimg("gray", "-r", "--shard", "2/2", "in", "a")
    gpuimg("gray", "-r", "--shard", "auto", "in", "b", env=array)
    gpuimg("gray", "-r", "--shard", "auto", "in", "c", env={"SLURM_PROCID": "1", "SLURM_NTASKS": "2"})
    assert files(tree / "a") == files(tree / "b") == files(tree / "c") != {}
    none = {name: "" for name in os.environ if name.startswith("SLURM_")}
    assert "no job of Slurm's" in gpuimg.refused("gray", "-r", "--shard", "auto", "in", "d", env=none).err
    assert "do not make a share" in gpuimg.refused("gray", "--shard", "auto", "in", "d",
                                                   env={**none, "SLURM_PROCID": "2", "SLURM_NTASKS": "2"}).err


@pytest.mark.parametrize("value", ["0/2", "3/2", "1", "/", "1/0", "-1/2", "1/2/3", "", "first", "1/1000001"])
def test_bad_values(gpuimg, tree, value):
    assert "I/N with I from 1 to N, or auto" in gpuimg.refused("gray", "--shard", value, "in", "out").err


def test_an_empty_share(gpuimg, image):
    image("a.png")
    results = [gpuimg.ok("gray", "--shard", f"{i}/2", "a.png", f"out{i}.png") for i in (1, 2)]
    assert sorted(r.err for r in results)[0] == "" and "no image falls to share" in "".join(r.err for r in results)
    assert "share" not in gpuimg.ok("gray", "-q", "--shard", "1/1000", "a.png", "x.png").err


def test_collisions_show_in_every_share(gpuimg, image):
    image("in/a.png")
    image("in/a.jpg")
    for i in (1, 2):
        assert "a.jpg" in gpuimg.refused("gray", "--format", "png", "--shard", f"{i}/2", "in", "out").err
