"""hist --merge: reports of parts add up to the report of the whole, byte for byte; hostile reports are refused."""
import itertools
import json

import numpy as np
import pytest

from conftest import encoded, pixels


@pytest.fixture
def photos(image):
    """Images of every kind of channels, by name."""
    names = [f"in/{i}.png" for i in range(9)]
    for i, name in enumerate(names):
        image(name, pixels(5 + i, 7, (3, 1, 4, 2)[i % 4], seed=i))
    return names


def channel(counts, name="gray", **more):
    bins = [0] * 256
    for level, count in counts.items():
        bins[level] = count
    return {"name": name, "bins": bins, "count": sum(counts.values()), **more}


def total(*channels, files=2, pixels=None, **more):
    most = max((c["count"] for c in channels), default=0)
    return {"file": "total", "files": files, "pixels": most if pixels is None else pixels, "channels": channels, **more}


def document(*images, schema=1):
    return json.dumps({"schema": schema, "images": images})


@pytest.mark.parametrize("word", ["json", "txt", "csv", "svg", "html"])
def test_parts_make_the_whole(gpuimg, photos, tmp_path, word):
    gpuimg.ok("hist", "--total", "-o", f"whole.{word}", *photos)
    for i, part in enumerate((photos[:1], photos[1:5], photos[5:])):
        gpuimg.ok("hist", "--total", "-o", f"part{i}.json", *part)
    (tmp_path / "none.json").write_text(document())
    parts = ["part0.json", "part1.json", "none.json", "part2.json"]
    for order in itertools.permutations(parts):
        gpuimg.ok("hist", "--merge", "-o", f"merged.{word}", *order)
        assert (tmp_path / f"merged.{word}").read_bytes() == (tmp_path / f"whole.{word}").read_bytes()


def test_reports_of_single_images_too(gpuimg, photos, tmp_path):
    gpuimg.ok("hist", "-o", "each.json", *photos[:4])
    gpuimg.ok("hist", "--total", "-o", "rest.json", *photos[4:])
    whole = gpuimg.ok("hist", "--total", "--format", "json", *photos).out
    assert gpuimg.ok("hist", "--merge", "--format", "json", "each.json", "rest.json").out == whole
    data = (tmp_path / "each.json").read_bytes()
    assert gpuimg.ok("hist", "--merge", "--format", "json", "-", "rest.json", stdin=data).out == whole
    again = gpuimg.ok("hist", "--merge", "--format", "json", "-", stdin=whole).out
    assert again == whole


def test_bins_of_the_sum(gpuimg, photos):
    gpuimg.ok("hist", "--total", "-o", "t.json", *photos)
    for bins in ("1", "7", "256"):
        assert (gpuimg.ok("hist", "--merge", "--bins", bins, "--format", "csv", "t.json").out ==
                gpuimg.ok("hist", "--total", "--bins", bins, "--format", "csv", *photos).out)
    assert "256 levels" in gpuimg("hist", "--merge", "--bins", "257", "t.json").err


def test_of_nothing(gpuimg, tmp_path):
    (tmp_path / "none.json").write_text(document())
    assert json.loads(gpuimg.ok("hist", "--merge", "--format", "json", "none.json").text)["images"] == []


def test_large_counts(gpuimg, tmp_path):
    big = 2**62 + 1
    for name, level in (("a", 3), ("b", 5)):
        (tmp_path / f"{name}.json").write_text(document(total(channel({level: big}))))
    merged, = json.loads(gpuimg.ok("hist", "--merge", "--format", "json", "a.json", "b.json").text)["images"]
    assert merged["pixels"] == 2 * big and merged["files"] == 4
    assert merged["channels"][0]["bins"][3] == merged["channels"][0]["bins"][5] == big
    assert (merged["channels"][0]["mean"], merged["channels"][0]["std"]) == (4, 1)
    for i in range(3):
        (tmp_path / f"{i}.json").write_bytes((tmp_path / "a.json").read_bytes())
    result = gpuimg("hist", "--merge", "-o", "r.json", "0.json", "1.json", "2.json", "a.json")
    assert result.code == 1 and "a.json: " in result.err and "passes 64 bits" in result.err
    assert not (tmp_path / "r.json").exists()


GOOD = total(channel({1: 4}))


HOSTILE = [
    ("", "empty"),
    ("{", "string"),
    ("[]", "an object is wanted"),
    ("\x89PNG", "an object is wanted"),
    ("{}", "no report of hist"),
    (document(GOOD, schema=2), "schema 1"),
    (document(GOOD) + "x", "more text"),
    (document(GOOD).replace('"schema": 1', '"schema": 1, "schema": 1'), "twice"),
    (document(GOOD)[:-1] + ', "failed": [], "failed_files": 1}', "twice"),
    (document(GOOD)[:-1] + ', "damaged_files": -1}', "a whole number"),
    (document(GOOD)[:-1] + ', "damaged": 1}', "array"),
    (document({**GOOD, "files": 0}), "neither an image nor a total"),
    (document({**GOOD, "width": 2}), "neither an image nor a total"),
    (document({**GOOD, "channels": []}), "neither an image nor a total"),
    (document({**GOOD, "pixels": 3}), "do not agree"),
    (document({**GOOD, "pixels": -4}), "a whole number"),
    (document({**GOOD, "pixels": 4.5}), "a whole number"),
    (document({**GOOD, "pixels": 2**64}), "past 64 bits"),
    (document({"file": "a", "width": 2, "height": 3, "pixels": 4, "channels": [channel({1: 4})]}), "do not agree"),
    (document({"file": "a", "width": 0, "height": 3, "pixels": 0, "channels": [channel({})]}), "do not agree"),
    (document({"file": "a", "width": 2, "height": 2, "pixels": 4, "channels": [channel({1: 3})]}), "do not agree"),
    (document(total({**channel({1: 4}), "count": 5}, pixels=5)), "do not add up to its count"),
    (document(total({**channel({1: 4}), "count": 3})), "do not add up to its count"),
    (document(total({**channel({1: 2**63, 2: 2**63, 3: 4}), "count": 4}, pixels=4)), "do not add up to its count"),
    (document(total({**channel({1: 4}), "bins": [4]})), "gray has 1 bin: "),
    (document(total({**channel({1: 4}), "bins": [0] * 65537})), "more than 65536 bins"),
    (document(total(channel({1: 4}, name="cyan"))), "'cyan' is no channel"),
    (document(total(channel({1: 4}), channel({1: 4}))), "a channel stands twice"),
    (document(total(*[channel({1: 4})] * 6)), "twice"),
    (document({**GOOD, "channels": [{"name": "gray", "bins": [0] * 256}]}), "without name, bins or count"),
    (document(total(channel({1: 4}), {**channel({1: 4}, name="red"), "bins": [4] + [0] * 65535})), "different numbers"),
]


@pytest.mark.parametrize("text,reason", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_reports(gpuimg, tmp_path, text, reason):
    (tmp_path / "good.json").write_text(document(GOOD))
    (tmp_path / "bad.json").write_text(text)
    result = gpuimg("hist", "--merge", "-o", "r.json", "good.json", "bad.json")
    assert result.code == 1 and result.err.startswith("gpuimg: bad.json: ") and reason in result.err, result
    assert not (tmp_path / "r.json").exists()


def test_levels_of_another_depth(gpuimg, tmp_path):
    (tmp_path / "a.json").write_text(document(GOOD))
    (tmp_path / "b.json").write_text(document(total({**channel({1: 4}), "bins": [4] + [0] * 65535})))
    result = gpuimg("hist", "--merge", "a.json", "b.json")
    assert result.code == 1 and "256 levels of 'a.json' and 65536 of 'b.json' do not add up" in result.err


def test_what_is_refused(gpuimg, photos, tmp_path):
    gpuimg.ok("hist", "--total", "-o", "t.json", *photos)
    for name in ("t.json", "./t.json", "./../" + tmp_path.name + "/t.json"):
        assert "would replace the input t.json" in gpuimg.refused("hist", "--merge", "t.json", "-o", name).err
    with open(tmp_path / "t.json", "r+b") as report:
        process = gpuimg.start("hist", "--merge", "t.json", stdout=report)
        assert b"would replace the input t.json" in process.communicate(timeout=60)[1] and process.returncode == 2
    gpuimg.ok("hist", "--merge", "t.json", "--no-clobber", "--format", "json", "-o", "/dev/null")
    assert "no pipeline" in gpuimg.refused("run", "gray | hist", "--merge", "t.json").err
    for more in (("-r",), ("--manifest", "m"), ("--files-from", "t.json"), ("--retry-failed", "m"), ("--shard", "1/2")):
        assert "for images" in gpuimg.refused("hist", "--merge", "t.json", *more).err
    assert "no input" in gpuimg.refused("hist", "--merge").err
    for names in (("missing.json",), ("t.json", "missing.json")):
        result = gpuimg("hist", "--merge", "-o", "r.json", *names)
        assert result.code == 1 and result.err == "gpuimg: missing.json: cannot open: No such file or directory\n"
    assert gpuimg("hist", "--merge", "in").code == 1
    # A report that counts twice makes a wrong sum; two reports that say the same are two.
    assert "t.json is given twice" in gpuimg.refused("hist", "--merge", "t.json", "t.json").err
    (tmp_path / "link.json").symlink_to("t.json")
    assert "t.json and link.json are one report" in gpuimg.refused("hist", "--merge", "t.json", "link.json").err
    (tmp_path / "copy.json").write_bytes((tmp_path / "t.json").read_bytes())
    assert gpuimg.ok("hist", "--merge", "t.json", "copy.json").out
    (tmp_path / "r.json").write_text("kept")
    assert gpuimg("hist", "--merge", "--no-clobber", "t.json", "-o", "r.json").code == 1


def test_a_file_of_another_kind_is_told_what_is_wanted(gpuimg, image, tmp_path):
    image("a.png")
    gpuimg.ok("gray", "--manifest", "m.jsonl", "a.png", "b.png")
    (tmp_path / "empty").touch()
    for name in ("m.jsonl", "a.png", "empty"):
        result = gpuimg("hist", "--merge", name)
        assert result.code == 1 and result.err.startswith(f"gpuimg: {name}: no report of hist as JSON, which --merge adds up"), result
    # A report that is one is not called anything else.
    gpuimg.ok("hist", "--bins", "4", "-o", "bins.json", "a.png")
    assert gpuimg("hist", "--merge", "bins.json").err.startswith("gpuimg: bins.json: byte ")
