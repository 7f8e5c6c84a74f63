"""Batches: one bad file never stops them; what resumes, refuses, stops and limits them; what is said."""
import os
import resource

import pytest

from conftest import encoded, pixels, png_header


@pytest.fixture
def batch(image, tmp_path):
    """in/ with a.png, b.png (damaged), c.png."""
    image("in/a.png")
    image("in/c.png")
    data = encoded(pixels())
    (tmp_path / "in/b.png").write_bytes(data[:len(data) // 2])
    return tmp_path


def names(path):
    return sorted(p.name for p in path.iterdir()) if path.exists() else []


def test_one_bad_file_never_stops_a_batch(gpuimg, batch):
    result = gpuimg("gray", "in", "out")
    lines = result.err.splitlines()
    assert result.code == 1 and names(batch / "out") == ["a.png", "c.png"]
    assert lines[0].startswith("gpuimg: in/b.png: ") and lines[-1] == "gpuimg: 2 done, 1 failed", result


def test_the_summary(gpuimg, batch, image):
    assert gpuimg("gray", "in/a.png", "in/c.png", "out").err == "gpuimg: 2 done\n"
    assert gpuimg("gray", "in/a.png", "one.png").err == ""
    (batch / "in/b.png").unlink()
    assert gpuimg("gray", "-q", "in", "out").err == ""
    (batch / "in/notes.txt").write_text("x")
    assert gpuimg("gray", "in", "out").err == "gpuimg: 2 done, 1 skipped (neither PNG nor JPEG)\n"


def test_quiet_still_names_failures(gpuimg, batch):
    result = gpuimg("gray", "-q", "in", "out")
    assert result.code == 1 and "in/b.png" in result.err and "done" not in result.err


def test_fail_fast(gpuimg, batch, tmp_path):
    (tmp_path / "in/a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    result = gpuimg("gray", "--fail-fast", "-j1", "in", "out")
    assert result.code == 1 and names(batch / "out") == []
    assert "in/a.png" in result.err and "in/b.png" not in result.err and "2 not started" in result.err, result


@pytest.mark.parametrize("cut", ["header", "data", "end", "crc"])
def test_png_damage_always_fails(gpuimg, tmp_path, cut):
    data = bytearray(encoded(pixels()))
    if cut == "crc":
        data[-20] ^= 1
    else:
        del data[{"header": 20, "data": len(data) // 2, "end": len(data) - 12}[cut]:]
    (tmp_path / "a.png").write_bytes(data)
    result = gpuimg("gray", "a.png", "b.png")
    assert result.code == 1 and result.err.startswith("gpuimg: a.png: ") and names(tmp_path) == ["a.png"], result
    assert len(result.err.splitlines()[0]) > len("gpuimg: a.png: ")


def test_a_damaged_file_is_not_replaced_in_place(gpuimg, tmp_path):
    data = encoded(pixels(200, 200), "JPEG")
    data = data[:len(data) * 6 // 10]
    (tmp_path / "a.jpg").write_bytes(data)
    os.link(tmp_path / "a.jpg", tmp_path / "b.jpg")
    for out in ("a.jpg", "./a.jpg", "b.jpg", "."):
        assert gpuimg("gray", "a.jpg", out).code == 1
        assert (tmp_path / "a.jpg").read_bytes() == data == (tmp_path / "b.jpg").read_bytes()


def test_jpeg_damage_warns_and_fails_under_strict(gpuimg, tmp_path):
    data = encoded(pixels(200, 200), "JPEG")
    (tmp_path / "a.jpg").write_bytes(data[:len(data) * 6 // 10])
    result = gpuimg.ok("gray", "a.jpg", "b.png")
    assert result.err.startswith("gpuimg: a.jpg: warning: "), result
    assert gpuimg.ok("gray", "-q", "a.jpg", "b.png").err == ""
    (tmp_path / "b.png").unlink()
    assert gpuimg("gray", "--strict", "a.jpg", "b.png").code == 1 and names(tmp_path) == ["a.jpg"]


def test_skip_existing_resumes(gpuimg, image, tmp_path):
    image("in/a.png")
    image("in/b.png")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a.png").write_bytes(b"kept")
    result = gpuimg.ok("gray", "--skip-existing", "in", "out")
    assert (tmp_path / "out/a.png").read_bytes() == b"kept" and (tmp_path / "out/b.png").stat().st_size > 10
    assert "gpuimg: 1 done, 1 skipped" in result.err


def test_no_clobber_refuses(gpuimg, image, tmp_path):
    image("in/a.png")
    image("in/b.png")
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a.png").write_bytes(b"kept")
    result = gpuimg("gray", "--no-clobber", "in", "out")
    assert result.code == 1 and (tmp_path / "out/a.png").read_bytes() == b"kept"
    assert "gpuimg: in/a.png: out/a.png exists already\n" in result.err and (tmp_path / "out/b.png").stat().st_size > 10
    (tmp_path / "r.json").write_bytes(b"kept")
    result = gpuimg("hist", "--no-clobber", "in", "-o", "r.json")
    assert result.code == 1 and result.err == "gpuimg: r.json: exists already\n" and (tmp_path / "r.json").read_bytes() == b"kept"


def test_max_pixels(gpuimg, image, tmp_path):
    image("a.png", pixels(30, 40))
    result = gpuimg("gray", "--max-pixels", "1199", "a.png", "b.png")
    assert result.code == 1 and "a.png: " in result.err and names(tmp_path) == ["a.png"]
    gpuimg.ok("gray", "--max-pixels", "1200", "a.png", "b.png")


def test_bombs_are_refused_from_the_header(gpuimg, tmp_path):

    (tmp_path / "in").mkdir()
    (tmp_path / "in/bomb.png").write_bytes(png_header(60000, 60000))
    (tmp_path / "in/good.png").write_bytes(encoded(pixels()))
    limit = None if gpuimg.sanitized else lambda: resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
    result = gpuimg("gray", "in", "out", preexec_fn=limit)
    assert result.code == 1 and "in/bomb.png: " in result.err and names(tmp_path / "out") == ["good.png"]


def test_workers_and_streams_change_nothing(gpuimg, image, tmp_path):
    for i in range(9):
        image(f"in/{i}.png", pixels(20 + i, 30, seed=i))
    for i, args in enumerate((("-j1",), ("-j8",), ("-j3", "--streams=1"), ("--workers=2",),
                              ("--slots=1",), ("-j4", "--slots=2", "--streams=2"))):
        gpuimg.ok("gray", *args, "in", f"out{i}")
        for path in (tmp_path / "out0").iterdir():
            assert path.read_bytes() == (tmp_path / f"out{i}" / path.name).read_bytes()
