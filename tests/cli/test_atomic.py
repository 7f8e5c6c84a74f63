"""Outputs are complete or absent: modes, links, special files, full disks, kills."""
import os
import resource
import signal
import subprocess
import time

import numpy as np
import pytest

from conftest import decoded, gray601, pixels

BIG = (1500, 1500)


def temporaries(directory):
    return [name for name in os.listdir(directory) if name.startswith(".")]


def kill_in_the_middle(gpuimg, directory, *args, number=signal.SIGKILL, tries=20):
    """Starts gpuimg and sends the signal once it has a temporary; returns the process, or None if it was too quick."""
    for _ in range(tries):
        process = gpuimg.start(*args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while process.poll() is None and not temporaries(directory):
            time.sleep(0.0005)
        if process.poll() is None:
            process.send_signal(number)
            if number != signal.SIGKILL or (process.wait(timeout=60) == -signal.SIGKILL and temporaries(directory)):
                return process
        process.wait(timeout=60)
    return None


def test_an_old_files_mode_is_kept(gpuimg, image, tmp_path):
    image("a.png")
    for mode in (0o600, 0o640, 0o444, 0o755):
        out = tmp_path / f"{mode}.png"
        out.write_bytes(b"old")
        out.chmod(mode)
        gpuimg.ok("gray", "a.png", out.name)
        assert out.stat().st_mode & 0o7777 == mode and decoded(out.read_bytes()).mode == "L"


def test_a_new_files_mode_follows_the_umask(gpuimg, image, tmp_path):
    image("a.png")
    for umask in (0o022, 0o027, 0o077, 0):
        gpuimg.ok("gray", "a.png", f"{umask}.png", preexec_fn=lambda: os.umask(umask))
        assert (tmp_path / f"{umask}.png").stat().st_mode & 0o7777 == 0o666 & ~umask
    gpuimg.ok("hist", "a.png", "-o", "r.json", preexec_fn=lambda: os.umask(0o027))
    assert (tmp_path / "r.json").stat().st_mode & 0o7777 == 0o640


def test_in_place(gpuimg, image, tmp_path):
    a = image("a.png")
    gpuimg.ok("gray", "a.png", "a.png")
    assert np.array_equal(np.array(decoded((tmp_path / "a.png").read_bytes())), gray601(a))
    image("in/b.png")
    gpuimg.ok("gray", "in", "in")
    assert decoded((tmp_path / "in/b.png").read_bytes()).mode == "L"


def test_a_links_target_is_replaced(gpuimg, image, tmp_path):
    image("a.png")
    (tmp_path / "d").mkdir()
    (tmp_path / "d/target.png").write_bytes(b"old")
    for name, target in (("link.png", "d/target.png"), ("dangling.png", "d/new.png")):
        (tmp_path / name).symlink_to(target)
        gpuimg.ok("gray", "a.png", name)
        assert os.readlink(tmp_path / name) == target
        assert decoded((tmp_path / target).read_bytes()).mode == "L"


def test_hard_links_break(gpuimg, image, tmp_path):
    image("a.png")
    (tmp_path / "b.png").write_bytes(b"old")
    os.link(tmp_path / "b.png", tmp_path / "c.png")
    gpuimg.ok("gray", "a.png", "b.png")
    assert (tmp_path / "c.png").read_bytes() == b"old"


def test_special_files_are_written_to_directly(gpuimg, image, tmp_path):
    image("a.png")
    gpuimg.ok("gray", "a.png", "/dev/null")
    gpuimg.ok("hist", "a.png", "--format", "json", "-o", "/dev/null")
    assert not os.path.isfile("/dev/null")
    os.mkfifo(tmp_path / "pipe")
    process = gpuimg.start("gray", "a.png", "pipe")
    data = (tmp_path / "pipe").read_bytes()
    assert process.wait(timeout=20) == 0 and decoded(data).mode == "L"
    process.communicate()


@pytest.mark.parametrize("args", [("gray", "--png-level=0", "a.png", "out.png"), ("gray", "a.png", "out.jpg"),
                                  ("hist", "a.png", "-o", "out.csv")])
def test_a_full_disk_loses_nothing(gpuimg, image, tmp_path, args):
    image("a.png", pixels(200, 200))
    out = tmp_path / args[-1]
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
    result = gpuimg(*args, preexec_fn=limit)
    assert result.code == 1 and "File too large" in result.err and not out.exists() and not temporaries(tmp_path)
    out.write_bytes(b"old")
    result = gpuimg(*args, preexec_fn=limit)
    assert result.code == 1 and out.read_bytes() == b"old" and not temporaries(tmp_path)


def test_a_really_full_disk(gpuimg, image, tmp_path):
    image("a.png", pixels(400, 400))
    (tmp_path / "small").mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp_path / "small"],
                      capture_output=True).returncode:
        pytest.skip("cannot mount a small file system here")
    try:
        result = gpuimg("gray", "--png-level=0", "a.png", "small/b.png")
        assert result.code == 1 and "No space left" in result.err
        assert os.listdir(tmp_path / "small") == []
    finally:
        subprocess.run(["umount", tmp_path / "small"], check=True)


def test_dev_full(gpuimg, image):
    image("a.png")
    for args in (("gray", "a.png", "/dev/full"), ("hist", "--format", "csv", "a.png", "-o", "/dev/full")):
        result = gpuimg(*args)
        assert result.code == 1 and "No space left" in result.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_directory(gpuimg, image, tmp_path):
    image("a.png")
    (tmp_path / "out").mkdir(0o555)
    (tmp_path / "ro").mkdir()
    (tmp_path / "ro/b.png").write_bytes(b"old")
    (tmp_path / "ro").chmod(0o555)
    assert gpuimg("gray", "a.png", "out").code == 1
    assert gpuimg("gray", "a.png", "ro/b.png").code == 1
    assert (tmp_path / "ro/b.png").read_bytes() == b"old" and os.listdir(tmp_path / "out") == []


def test_kill_9_loses_nothing_and_the_next_run_sweeps(gpuimg, image, tmp_path):
    image("a.png", pixels(*BIG))
    out = tmp_path / "out"
    out.mkdir()
    (out / "b.png").write_bytes(b"old")
    if not kill_in_the_middle(gpuimg, out, "gray", "a.png", "out/b.png"):
        pytest.skip("the run ended before it could be killed")
    assert (out / "b.png").read_bytes() == b"old" and temporaries(out)
    (out / ".keep").write_bytes(b"mine")
    image("small.png")
    gpuimg.ok("gray", "small.png", "out/c.png")
    assert sorted(os.listdir(out)) == [".keep", "b.png", "c.png"]


def test_a_live_runs_temporaries_are_not_swept(gpuimg, image, tmp_path):
    image("a.png", pixels(*BIG))
    image("small.png")
    out = tmp_path / "out"
    out.mkdir()
    process = kill_in_the_middle(gpuimg, out, "gray", "a.png", "out/b.png", number=signal.SIGSTOP)
    if not process:
        pytest.skip("the run ended before it could be stopped")
    gpuimg.ok("gray", "small.png", "out/c.png")
    process.send_signal(signal.SIGCONT)
    assert process.wait(timeout=60) == 0
    assert decoded((out / "b.png").read_bytes()).size == BIG and not temporaries(out)


def test_a_report_is_complete_or_absent(gpuimg, image, tmp_path):
    image("a.png")
    (tmp_path / "r.json").write_bytes(b"old")
    assert gpuimg("hist", "missing.png", "-o", "r.json").code == 1
    assert (tmp_path / "r.json").read_bytes() == b"old"
    assert gpuimg("hist", "a.png", "-o", "no/such/r.json").code == 1
    gpuimg.ok("hist", "a.png", "-o", "r.json")
    assert (tmp_path / "r.json").read_bytes().startswith(b'{"schema":1,') and not temporaries(tmp_path)


def test_a_report_sweeps_what_killed_runs_left(gpuimg, image, tmp_path):
    image("a.png")
    out = tmp_path / "out"
    out.mkdir()
    (out / "link.json").symlink_to("../linked/r.json")
    (tmp_path / "linked").mkdir()
    left = [out / ".r.json.gpuimg-1-0.tmp", tmp_path / "linked/.r.json.gpuimg-1-0.tmp"]
    for path in left:
        path.write_bytes(b"half a report")
    gpuimg.ok("hist", "a.png", "-o", "out/link.json")
    assert not any(path.exists() for path in left)
    left[0].write_bytes(b"half a report")
    gpuimg.ok("hist", "a.png", "-o", "/dev/null", "--format", "json")
    assert left[0].exists()
