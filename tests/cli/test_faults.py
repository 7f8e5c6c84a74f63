"""Runs that are killed, stopped, raced, or work on files that change under them."""
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import pytest

from conftest import decoded, encoded, pixels


def names(directory):
    return sorted(os.listdir(directory)) if os.path.isdir(directory) else []


def states(directory):
    """Name -> what changes whenever a file is written anew."""
    return {name: (os.stat(os.path.join(directory, name)).st_ino, os.stat(os.path.join(directory, name)).st_mtime_ns)
            for name in names(directory) if not name.startswith(".")}


def contents(directory):
    return {name: open(os.path.join(directory, name), "rb").read() for name in names(directory)}


@pytest.fixture
def mounted(tmp_path):
    """mounted(options): a small file system of its own, at fs/."""
    points = []

    def mount(options):
        point = tmp_path / "fs"
        point.mkdir(exist_ok=True)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", point], capture_output=True,
                          check=False).returncode:
            pytest.skip("cannot mount a file system here")
        points.append(point)
        return point
    yield mount
    for point in points:
        subprocess.run(["umount", point], check=True)


# ---- killed and stopped ---------------------------------------------------------------------------------------------

def test_fifty_kills_then_the_rest(gpuimg, tmp_path):
    """Every output whole, none missing, none touched twice."""
    rng = random.Random(8)
    (tmp_path / "in").mkdir()
    count = 120
    for i in range(count):
        (tmp_path / f"in/{i:03}.png").write_bytes(encoded(pixels(140 + i, 160 + i, seed=i)))
    gpuimg.ok("gray", "in", "whole")
    expected = contents(tmp_path / "whole")
    done, kills, torn = {}, 0, 0
    reach = 0.04  # of the kills in time: on a slow machine longer, so that they do not all come before the first file
    while kills < 50:
        process = gpuimg.start("gray", "-j2", "--skip-existing", "in", "out", stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0, reach))
        process.kill()
        reach *= 0.8 if process.wait(timeout=60) == 0 else 1
        kills += 1
        torn += any(name.startswith(".") for name in names(tmp_path / "out"))
        now = states(tmp_path / "out")
        assert all(now[name] == state for name, state in done.items())
        reach *= 1.3 if len(now) == len(done) and reach < 5 else 1
        if len(now) == count:  # begin anew
            assert contents_without_temporaries(tmp_path / "out") == expected
            for name in names(tmp_path / "out"):
                os.unlink(tmp_path / "out" / name)
            now = {}
        done = now
    assert torn >= 5  # kills amid a file
    gpuimg.ok("gray", "--skip-existing", "in", "out")
    assert contents(tmp_path / "out") == expected  # and no temporary is left
    assert all(states(tmp_path / "out")[name] == state for name, state in done.items())


def contents_without_temporaries(directory):
    return {name: data for name, data in contents(directory).items() if not name.startswith(".")}


@pytest.mark.parametrize("command", [
    ("gray", "--png-level", "9"), ("gray", "--png-level", "9", "--slots", "1"),
    ("blur", "--sigma", "200"), ("heat", "--steps", "1000")])
def test_a_stop_within_two_seconds(gpuimg, tmp_path, command):
    (tmp_path / "in").mkdir()
    data = encoded(pixels(2500, 2500), compress_level=1)
    for i in range(12):
        (tmp_path / f"in/{i}.png").write_bytes(data)
    process = gpuimg.start(*command, "-j2", "in", "out")
    time.sleep(0.4)
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    process.communicate(timeout=60)
    # Two seconds, and what a machine takes that does other things too.
    assert process.returncode == 130 and time.monotonic() - started < (2.5 if not gpuimg.sanitized else 10)
    for name in names(tmp_path / "out"):
        assert not name.startswith(".") and decoded((tmp_path / "out" / name).read_bytes()).size == (2500, 2500)


# ---- disks ----------------------------------------------------------------------------------------------------------

def test_a_full_disk_stops_and_names(gpuimg, image, mounted, tmp_path):
    for i in range(40):
        image(f"in/{i:02}.png", pixels(100, 100, seed=i))
    fs = mounted("size=128k")
    result = gpuimg("gray", "-j1", "--png-level", "0", "--manifest", "m.jsonl", "in", "fs/out")
    lines = result.err.splitlines()
    done = len(names(fs / "out"))
    assert result.code == 1 and 5 < done < 40 and all(decoded(data) for data in contents(fs / "out").values())
    assert lines[0].startswith(f"gpuimg: in/{done:02}.png: cannot write fs/out/") and "No space left" in lines[0]
    said = [f"gpuimg: in/{i:02}.png: not done, because the disk is full" for i in range(done + 1, min(done + 21, 40))]
    assert lines[1:1 + len(said)] == said
    if done + 21 < 40:
        assert lines[1 + len(said)] == f"gpuimg: and {40 - done - 21} more are not done"
    assert lines[-1] == f"gpuimg: {done} done, 1 failed, {39 - done} not started", result
    subprocess.run(["mount", "-o", "remount,size=4m", fs], check=True)
    assert gpuimg.ok("gray", "--png-level", "0", "--retry-failed", "m.jsonl").err == f"gpuimg: {40 - done} done\n"
    assert len(names(fs / "out")) == 40


def test_a_read_only_directory(gpuimg, image, mounted, tmp_path):
    image("in/a.png")
    image("in/b.png")
    fs = mounted("size=1m")
    (fs / "out").mkdir()
    (fs / "out/a.png").write_bytes(b"old")
    subprocess.run(["mount", "-o", "remount,ro", fs], check=True)
    for args in (("in", "fs/out"), ("in", "fs/new"), ("in/a.png", "fs/out/a.png")):
        result = gpuimg("gray", *args)
        assert result.code == 1 and "Read-only file system" in result.err and len(result.err.splitlines()) <= 2, result
    assert contents(fs / "out") == {"a.png": b"old"}
    result = gpuimg("gray", "--manifest", "fs/m.jsonl", "in", "out")
    assert result.code == 1 and "fs/m.jsonl: cannot write: Read-only" in result.err and not (tmp_path / "out").exists()


# ---- files that are not what they were ------------------------------------------------------------------------------

@pytest.fixture
def held(gpuimg, tmp_path):
    """held(action): lists in/ with c.png last, changes it by `action` while another file is waited for, and returns the
    result of the run."""
    def run(action):
        (tmp_path / "in").mkdir()
        (tmp_path / "in/a.png").write_bytes(encoded(pixels()))
        (tmp_path / "in/c.png").write_bytes(encoded(pixels()))
        os.mkfifo(tmp_path / "b.png")
        process = gpuimg.start("gray", "-j1", "b.png", "in", "out")
        time.sleep(0.3)
        action(tmp_path / "in/c.png")
        (tmp_path / "b.png").write_bytes(encoded(pixels()))
        err = process.communicate(timeout=60)[1].decode()
        return process.returncode, err
    return run


def replace_by(make):
    def action(path):
        path.unlink()
        make(path)
    return action


@pytest.mark.parametrize("action,reason", [
    (os.unlink, "No such file"), (replace_by(os.mkdir), "directory"), (replace_by(os.mkfifo), "no longer a regular file"),
    (replace_by(lambda path: path.symlink_to(path)), "Too many levels"), (lambda path: path.write_bytes(b""), "empty"),
    (lambda path: path.write_bytes(b"no image"), ""),
], ids=["vanishes", "directory", "fifo", "loop", "empty", "text"])
def test_a_file_that_is_another_by_now(held, tmp_path, action, reason):
    code, err = held(action)
    lines = err.splitlines()
    assert code == 1 and lines[0].startswith("gpuimg: in/c.png: ") and reason in lines[0], err
    assert lines[1:] == ["gpuimg: 2 done, 1 failed"] and names(tmp_path / "out") == ["a.png", "b.png"]


@pytest.fixture
def as_nobody(gpuimg):
    """as_nobody(...): the program in a directory of its own, run by an account that may do nothing elsewhere."""
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o777)
        program = type(gpuimg)(os.path.join(directory, "gpuimg"), directory)
        shutil.copy(gpuimg.path, program.path)
        options = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        if program("--version", **options).code:
            pytest.skip("cannot run it by another account")
        yield pathlib.Path(directory), lambda *args: program(*args, **options)


def test_what_may_not_be_read(as_nobody):
    folder, run = as_nobody
    (folder / "in/closed").mkdir(parents=True)
    for name in ("a.png", "b.png", "closed/c.png"):
        (folder / "in" / name).write_bytes(encoded(pixels()))
    os.chmod(folder / "in/b.png", 0)
    os.chmod(folder / "in/closed", 0)
    result = run("gray", "-r", "in", "out")
    assert result.code == 1 and result.err.endswith("gpuimg: 1 done, 2 failed\n"), result
    assert "in/b.png: cannot open: Permission denied" in result.err and "in/closed: " in result.err
    assert names(folder / "out") == ["a.png"]


def test_what_may_not_be_written(as_nobody):
    folder, run = as_nobody
    (folder / "in").mkdir()
    (folder / "in/a.png").write_bytes(encoded(pixels()))
    (folder / "in/b.png").write_bytes(encoded(pixels()))
    (folder / "out").mkdir()
    (folder / "out/a.png").write_bytes(b"old")
    os.chmod(folder / "out", 0o555)
    for args in (("in", "out"), ("in/a.png", "out/a.png"), ("in", "out/new")):
        result = run("gray", *args)
        assert result.code == 1 and "Permission denied" in result.err and len(result.err.splitlines()) <= 2, result
    assert contents(folder / "out") == {"a.png": b"old"}


def test_a_file_that_changes_while_it_is_read(gpuimg, tmp_path):
    """Cut, grown and rewritten all the time: named as damaged, or whole; never another end."""
    whole = encoded(pixels(900, 900), compress_level=1)
    other = encoded(pixels(900, 900, seed=2), compress_level=1)
    path, stop = tmp_path / "a.png", threading.Event()
    path.write_bytes(whole)

    def change():
        rng = random.Random(3)
        while not stop.is_set():
            with open(path, "r+b") as file:
                file.truncate(rng.choice((0, 8, len(whole) // 3, len(whole) - 1, len(whole))))
                file.write(rng.choice((whole, other)))
            time.sleep(rng.uniform(0, 0.01))
    thread = threading.Thread(target=change)
    thread.start()
    try:
        for i in range(40):
            result = gpuimg("gray", "a.png", f"out{i}.png")
            assert result.code in (0, 1) and (result.code == 0) == (tmp_path / f"out{i}.png").exists(), result
            assert result.code == 0 or result.err.startswith("gpuimg: a.png: "), result
            if result.code == 0:
                assert decoded((tmp_path / f"out{i}.png").read_bytes()).size == (900, 900)
    finally:
        stop.set()
        thread.join()
    assert not [name for name in names(tmp_path) if name.startswith(".")]


def test_a_large_file_that_is_cut_while_it_is_read_in_pieces(gpuimg, image, tmp_path):
    """It is left open and read as its rows are needed: the run sees the cut, and neither crashes nor writes a half."""
    whole = encoded(pixels(3000, 2500), compress_level=0)
    rng = random.Random(4)
    outcomes = set()
    for i in range(12):
        (tmp_path / "a.png").write_bytes(whole)
        process = gpuimg.start("gray", "--png-level", "6", "a.png", "out.png")
        time.sleep(rng.uniform(0, 0.06))
        os.truncate(tmp_path / "a.png", rng.choice((0, 9, len(whole) // 2, len(whole) - 20)))
        err = process.communicate(timeout=60)[1].decode()
        outcomes.add(process.returncode)
        assert process.returncode in (0, 1) and (process.returncode == 0 or err.startswith("gpuimg: a.png: ")), err
        assert (tmp_path / "out.png").exists() == (process.returncode == 0)
        if process.returncode == 0:
            assert decoded((tmp_path / "out.png").read_bytes()).size == (2500, 3000)
            (tmp_path / "out.png").unlink()
        assert not [name for name in names(tmp_path) if name.startswith(".")]
    assert 1 in outcomes


# ---- many, and at once ----------------------------------------------------------------------------------------------

def test_many_files_are_names_only(gpuimg, tmp_path):
    """20 000 files: 300 bytes of memory each at most, beside what one takes."""
    count = 20000
    (tmp_path / "in").mkdir()
    (tmp_path / "in/0.png").write_bytes(encoded(pixels(8, 8)))
    gpuimg.ok("gray", "--stats-json", "one.json", "in", "one")
    for i in range(1, count):
        os.link(tmp_path / "in/0.png", tmp_path / f"in/{i}.png")
    share = f"1/{count // 20}"  # the listing counts, not the work
    gpuimg.ok("gray", "--shard", share, "--stats-json", "many.json", "--manifest", "m.jsonl", "in", "out")
    one, many = (json.loads((tmp_path / name).read_text()) for name in ("one.json", "many.json"))
    assert 1 <= many["images"] < 100
    if not gpuimg.sanitized:
        assert many["peak_memory_bytes"] - one["peak_memory_bytes"] < 300 * count


def test_two_runs_into_one_directory(gpuimg, tmp_path):
    (tmp_path / "in").mkdir()
    for i in range(60):
        (tmp_path / f"in/{i:02}.png").write_bytes(encoded(pixels(60 + i, 90, seed=i)))
    gpuimg.ok("gray", "in", "whole")
    expected = contents(tmp_path / "whole")
    for more in ((), ("--skip-existing",)):
        runs = [gpuimg.start("gray", *more, "in", "out") for _ in range(3)]
        assert [(run.communicate(timeout=60), run.returncode)[1] for run in runs] == [0, 0, 0]
        assert contents(tmp_path / "out") == expected
    # Of those that must not replace, each output is one's, and the others name it.
    runs = [gpuimg.start("gray", "--no-clobber", "in", "new") for _ in range(2)]
    told = [run.communicate(timeout=60)[1].decode() for run in runs]
    assert contents(tmp_path / "new") == expected
    assert sum(err.count(" exists") for err in told) == 60


def test_the_limit_of_a_file_is_no_full_disk(gpuimg, image, tmp_path):
    """A file past RLIMIT_FSIZE fails alone."""
    image("in/a.png", pixels(300, 300))
    image("in/b.png", pixels(8, 8))
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
    result = gpuimg("gray", "-j1", "in", "out", preexec_fn=limit)
    assert result.code == 1 and "File too large" in result.err and names(tmp_path / "out") == ["b.png"]
