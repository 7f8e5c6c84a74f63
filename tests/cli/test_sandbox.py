"""The sandbox: --sandbox and GPUIMG_SANDBOX, on kernels that have it and that do not; what it leaves to a run.

What it denies is proven by tests/unit/test_sandbox.c, from within.
"""
import ctypes
import errno
import os
import platform
import struct
import subprocess
import time

import numpy as np
import pytest

from conftest import decoded, gray601

WHOLE = "Landlock (version "
SECCOMP_CALL, ARCHITECTURE = {"x86_64": (317, 0xC000003E), "aarch64": (277, 0xC00000B7)}.get(platform.machine(), (0, 0))
LANDLOCK_CALL = 444


@pytest.fixture
def kernel(gpuimg):
    """What info says that the kernel has."""
    line = next(line for line in gpuimg.ok("info").text.splitlines() if line.startswith("sandbox"))
    return line.split(None, 1)[1]


@pytest.fixture
def whole(kernel):
    if not (kernel.startswith(WHOLE) and kernel.endswith(" and seccomp")):
        pytest.skip(f"this kernel's sandbox: {kernel}")
    return kernel


def without(*calls, error=errno.ENOSYS):
    """For preexec_fn: a system without these calls, as the kernel's own filter makes it one."""
    code = struct.pack("HBBI", 0x20, 0, 0, 0)  # the call's number
    for call in calls:
        code += struct.pack("HBBI", 0x15, 0, 1, call) + struct.pack("HBBI", 0x06, 0, 0, 0x00050000 | error)
    code += struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000)
    libc = ctypes.CDLL(None, use_errno=True)

    def install():
        text = ctypes.create_string_buffer(code)
        program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(text))
        assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0  # no new privileges, filter
    return install


def note(result):
    return next(line for line in result.err.splitlines() if line.startswith("gpuimg: sandbox "))


# ---- the option ---------------------------------------------------------------------------------------------------

def test_auto_and_require_where_the_kernel_has_all(gpuimg, image, whole):
    image("a.png")
    for args, env in (((), {}), (("--sandbox", "auto"), {}), (("--sandbox=require",), {}), ((), {"GPUIMG_SANDBOX": ""}),
                      ((), {"GPUIMG_SANDBOX": "require"}), (("--sandbox", "auto"), {"GPUIMG_SANDBOX": "off"})):
        assert note(gpuimg.ok("gray", "-v", *args, "a.png", "b.png", env=env)).startswith(f"gpuimg: sandbox {whole}")
    assert gpuimg.ok("gray", "--sandbox", "require", "a.png", "b.png").err == ""


def test_off(gpuimg, image):
    image("a.png")
    for args, env in ((("--sandbox", "off"), {}), ((), {"GPUIMG_SANDBOX": "off"}),
                      (("--sandbox", "off"), {"GPUIMG_SANDBOX": "require"})):
        assert note(gpuimg.ok("gray", "-v", *args, "a.png", "b.png", env=env)) == "gpuimg: sandbox off"


@pytest.mark.parametrize("args", [("gray", "a.png", "new/"), ("hist", "a.png"), ("hist", "--merge", "r.json"),
                                  ("run", "--explain", "gray", "a.png"), ("reduce", "sum", "a.png")])
def test_bad_words(gpuimg, image, args):
    image("a.png")
    gpuimg.ok("hist", "-o", "r.json", "a.png")
    err = gpuimg.refused(args[0], "--sandbox", "on", *args[1:]).err
    assert "option --sandbox must be auto, off or require, not 'on'" in err
    err = gpuimg.refused(*args, env={"GPUIMG_SANDBOX": "on"}).err
    assert "variable GPUIMG_SANDBOX must be auto, off or require, not 'on'" in err
    gpuimg.ok(*args, "--sandbox", "off", env={"GPUIMG_SANDBOX": "on"})


COMMANDS = [("gray", "a.png", "b.png"), ("gray", "a.png", "c.png", "new"), ("hist", "-o", "r.json", "a.png"),
            ("hist", "--merge", "-o", "m.json", "r0.json"), ("reduce", "sum", "a.png"), ("reduce", "sum", "a.npy"),
            ("scan", "sum", "a.npy", "-o", "s.npy"), ("matmul", "a.npy", "a.npy", "-o", "m.npy"),
            ("run", "--explain", "gray", "a.png"), ("info", "a.png")]


@pytest.fixture
def files(gpuimg, image, tmp_path):
    image("a.png")
    image("c.png")
    gpuimg.ok("hist", "-o", "r0.json", "a.png")
    np.save(tmp_path / "a.npy", np.ones((3, 3), np.float32))


@pytest.mark.parametrize("args", COMMANDS)
def test_every_command_runs_in_it(gpuimg, files, whole, args):
    gpuimg.ok(args[0], "--sandbox", "require", *args[1:])
    if args[0] != "info":
        assert whole in note(gpuimg.ok(args[0], "-v", *args[1:]))


# ---- kernels that lack it -----------------------------------------------------------------------------------------

@pytest.mark.parametrize("calls,about,reason", [
    ((LANDLOCK_CALL,), "seccomp, but no Landlock", "only a part of it is to be had here: no Landlock"),
    ((SECCOMP_CALL,), WHOLE, "only a part of it is to be had here: no filter of system calls"),
    ((LANDLOCK_CALL, SECCOMP_CALL), "none: no Landlock, no seccomp", "none is to be had here: neither Landlock")])
@pytest.mark.parametrize("error", [errno.ENOSYS, errno.EPERM, errno.EOPNOTSUPP])
def test_a_kernel_without(gpuimg, files, whole, tmp_path, calls, about, reason, error):
    if not SECCOMP_CALL:
        pytest.skip("an architecture that this test does not know")
    old = without(*calls, error=error)
    assert about in gpuimg.ok("info", preexec_fn=old).text
    result = gpuimg.ok("gray", "-v", "a.png", "b.png", preexec_fn=old)
    assert note(result).startswith(f"gpuimg: sandbox {about}") and (tmp_path / "b.png").exists()
    assert gpuimg.ok("gray", "a.png", "b.png", preexec_fn=old).err == ""
    (tmp_path / "b.png").unlink()
    before = sorted(os.listdir(tmp_path))
    for args in COMMANDS:
        result = gpuimg(args[0], "--sandbox", "require", *args[1:], preexec_fn=old)
        assert result.code == 3 and result.out == b"", result
        assert result.err.startswith("gpuimg: option --sandbox requires a sandbox, and ") and reason in result.err
        assert len(result.err.splitlines()) == 1 and sorted(os.listdir(tmp_path)) == before, result
    result = gpuimg("gray", "a.png", "b.png", env={"GPUIMG_SANDBOX": "require"}, preexec_fn=old)
    assert result.code == 3 and result.err.startswith("gpuimg: variable GPUIMG_SANDBOX requires a sandbox, and ")


# ---- within -------------------------------------------------------------------------------------------------------

def status_of(process, key):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return next(line.split()[1] for line in file if line.startswith(key + ":"))


@pytest.mark.parametrize("mode,seccomp,privileges", [("require", "2", "1"), ("auto", "2", "1"), ("off", "0", "0")])
@pytest.mark.parametrize("args", [("gray", "fifo.png", "b.png"), ("hist", "fifo.png"), ("reduce", "sum", "fifo.png")])
def test_it_holds_before_an_image_is_read(gpuimg, image, whole, tmp_path, args, mode, seccomp, privileges):
    image("a.png")
    if status_of(subprocess.Popen(["true"]), "Seccomp") != "0":
        pytest.skip("the test itself is under a filter")
    os.mkfifo(tmp_path / "fifo.png")
    process = gpuimg.start(args[0], "--sandbox", mode, *args[1:])
    writer = os.open(tmp_path / "fifo.png", os.O_WRONLY)  # returns once it is opened for reading
    try:
        assert (status_of(process, "Seccomp"), status_of(process, "NoNewPrivs")) == (seccomp, privileges)
    finally:
        os.write(writer, (tmp_path / "a.png").read_bytes())
        os.close(writer)
        process.communicate(timeout=60)
    assert process.returncode == 0


def test_its_threads_are_in_it(gpuimg, image, whole, tmp_path):
    image("in/a.png")
    for i in range(4):
        os.mkfifo(tmp_path / f"fifo{i}.png")
    process = gpuimg.start("gray", "-j", "4", "--sandbox", "require", *(f"fifo{i}.png" for i in range(4)), "out")
    writer = os.open(tmp_path / "fifo0.png", os.O_WRONLY)
    seen = []
    for thread in os.listdir(f"/proc/{process.pid}/task"):
        with open(f"/proc/{process.pid}/task/{thread}/status", encoding="ascii") as file:
            seen.append(next(line.split()[1] for line in file if line.startswith("Seccomp:")))
    process.kill()
    process.communicate(timeout=60)
    os.close(writer)
    assert seen and set(seen) == {"2"}


def test_what_is_written_goes_on(gpuimg, image, whole, tmp_path):
    """Trees, links, files in place, files of the run's own: each in a directory of its own."""
    arrays = {name: image(f"in/{name}") for name in ("a.png", "b.jpg", "sub/c.png", "sub/deep/d.png")}
    for folder in ("elsewhere", "m", "s", "t", "r", "out"):
        (tmp_path / folder).mkdir()
    (tmp_path / "out/a.png").symlink_to("../elsewhere/target.png")
    (tmp_path / "out/sub").symlink_to("../elsewhere")
    env = {"GPUIMG_SANDBOX": "require"}
    gpuimg.ok("gray", "-r", "--manifest", "m/m.jsonl", "--stats-json", "s/s.json", "--trace", "t/t.json", "in", "out",
              env=env)
    for name in ("elsewhere/target.png", "elsewhere/c.png", "elsewhere/deep/d.png", "out/b.jpg", "m/m.jsonl", "s/s.json",
                 "t/t.json"):
        assert (tmp_path / name).stat().st_size > 0
    assert (np.array(decoded((tmp_path / "elsewhere/target.png").read_bytes())) == gray601(arrays["a.png"])).all()
    gpuimg.ok("hist", "-o", "r/r.html", "in", env=env)
    gpuimg.ok("gray", "in/a.png", "in/a.png", env=env)
    gpuimg.ok("gray", "in/a.png", "/dev/null", "--format", "png", env=env)
    assert gpuimg.ok("gray", "-", "-", stdin=(tmp_path / "in/a.png").read_bytes(), env=env).out.startswith(b"\x89PNG")
    assert gpuimg.ok("gray", "in/a.png", "/dev/stdout", "--format", "png", env=env).out.startswith(b"\x89PNG")
    (tmp_path / "names").write_text("in/b.jpg\nin/sub/c.png\n")
    gpuimg.ok("gray", "--files-from", "names", "fresh/deep", env=env)
    assert sorted(os.listdir(tmp_path / "fresh/deep")) == ["b.jpg", "c.png"]


def test_an_output_that_is_a_fifo(gpuimg, image, whole, tmp_path):
    image("a.png")
    os.mkfifo(tmp_path / "fifo")
    process = gpuimg.start("gray", "--sandbox", "require", "--format", "png", "a.png", "fifo")
    assert (tmp_path / "fifo").read_bytes().startswith(b"\x89PNG")
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_a_retry_makes_the_folders_it_needs(gpuimg, image, whole, tmp_path):
    image("in/a.png")
    (tmp_path / "in/b.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    env = {"GPUIMG_SANDBOX": "require"}
    assert gpuimg("gray", "--manifest", "m.jsonl", "in", "out/deep", env=env).code == 1
    image("in/b.png")
    (tmp_path / "out/deep/a.png").unlink()
    (tmp_path / "out/deep").rmdir()
    gpuimg.ok("gray", "--retry-failed", "m.jsonl", env=env)
    assert os.listdir(tmp_path / "out/deep") == ["b.png"]


def test_a_run_that_cannot_open_its_own_files_leaves_no_folder(gpuimg, image, tmp_path):
    image("in/a.png")
    for option in ("--stats-json", "--trace"):
        assert gpuimg("gray", option, "no/such/x.json", "in", "out").code == 1
    (tmp_path / "m.jsonl").write_text("")
    assert gpuimg("gray", "--no-clobber", "--manifest", "m.jsonl", "in", "out").code == 1
    assert sorted(os.listdir(tmp_path)) == ["in", "m.jsonl"]
    gpuimg.ok("gray", "--manifest", "out/m.jsonl", "in", "out")


@pytest.mark.parametrize("mode", ["auto", "off"])
@pytest.mark.parametrize("empty", [False, True])
def test_its_own_files_may_lie_in_folders_that_it_makes(gpuimg, image, tmp_path, mode, empty):
    (tmp_path / "in").mkdir()
    if not empty:
        image("in/a.png")
    own = (("--manifest", "m.jsonl"), ("--stats-json", "s.json"), ("--trace", "t.json"))
    sets = [[one] for one in own] + [own, own[:2], own[::2]]
    for number, some in enumerate(sets):
        for place in ("{}/", "{}/deep/er/", "{}/../", ""):
            out = f"new{number}{len(place)}/out"
            folder = place.format(out) or f"new{number}0/"
            args = [part for option, name in some for part in (option, folder + name)]
            gpuimg.ok("gray", "--sandbox", mode, *args, "in", out)
            for _, name in some:
                assert (tmp_path / folder / name).exists(), (args, out)
            assert (tmp_path / out / "a.png").exists() != empty


@pytest.mark.parametrize("mode", ["auto", "off"])
def test_a_retry_makes_folders_for_its_own_files(gpuimg, image, tmp_path, mode):
    image("in/a.png")
    (tmp_path / "m.jsonl").write_text('{"path":"in/a.png","status":"failed","output":"out/deep/a.png"}\n')
    gpuimg.ok("gray", "--sandbox", mode, "--retry-failed", "m.jsonl", "--trace", "out/t.json", "--stats-json",
              "out/deep/er/s.json")
    assert sorted(os.listdir(tmp_path / "out/deep")) == ["a.png", "er"] and (tmp_path / "out/t.json").exists()


@pytest.mark.parametrize("mode", ["auto", "off"])
def test_which_of_its_own_files_cannot_be_written(gpuimg, image, tmp_path, mode):
    image("in/a.png")
    for own in (("--stats-json", "out/s.json"), ("--manifest", "out/m.jsonl")):
        result = gpuimg("gray", "--sandbox", mode, *own, "--trace", "no/such/t.json", "in", "out")
        assert result.code == 1 and result.err.startswith("gpuimg: no/such/t.json: "), result
        assert os.listdir(tmp_path) == ["in"]


def test_signals_end_it_as_before(gpuimg, whole, tmp_path):
    os.mkfifo(tmp_path / "fifo.png")
    process = gpuimg.start("gray", "--sandbox", "require", "fifo.png", "b.png")
    writer = os.open(tmp_path / "fifo.png", os.O_WRONLY)
    time.sleep(0.1)
    process.terminate()
    process.communicate(timeout=60)
    os.close(writer)
    assert process.returncode == 143 and os.listdir(tmp_path) == ["fifo.png"]


def test_a_tool_in_the_process_keeps_auto_out(gpuimg, image, whole):
    image("a.png")
    env = {"CUDA_INJECTION64_PATH": "/no/such/tool.so"}
    auto = note(gpuimg.ok("gray", "-v", "--device", "auto", "a.png", "b.png", env=env))
    gpu = any(name.startswith("nvidia") for name in os.listdir("/dev")) and "cuda:0" in gpuimg.ok("info").text
    assert ("off, as CUDA_INJECTION64_PATH" if gpu else whole) in auto
    assert whole in note(gpuimg.ok("gray", "-v", "--sandbox", "require", "a.png", "b.png", env=env))
    assert whole in note(gpuimg.ok("gray", "-v", "--device", "cpu", "a.png", "b.png", env=env))
