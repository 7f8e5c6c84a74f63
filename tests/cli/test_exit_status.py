"""Exit status: 0 done, 1 a file failed, 2 usage (nothing touched), 3 device; where messages and data go."""
import os
import subprocess

import pytest

from conftest import decoded


def test_0_when_all_is_done(gpuimg, image):
    image("a.png")
    result = gpuimg.ok("gray", "a.png", "b.png")
    assert result.out == b"" and result.err == ""


def test_1_when_an_input_fails(gpuimg, tmp_path):
    result = gpuimg("gray", "missing.png", "b.png")
    assert result.code == 1
    assert result.err == "gpuimg: missing.png: cannot open: No such file or directory\n"
    assert not (tmp_path / "b.png").exists()


def test_1_when_the_output_cannot_be_written(gpuimg, image):
    image("a.png")
    result = gpuimg("gray", "a.png", "no/such/directory/b.png")
    assert result.code == 1 and "a.png: " in result.err


@pytest.mark.parametrize("args", [
    (), ("gray",), ("gray", "a.png"), ("hist",), ("run",), ("run", "gray"), ("run", "gray", "a.png"), ("nonsense",),
    ("--nonsense",), ("gray", "--nonsense", "a.png", "b.png"), ("gray", "a.png", "b.png", "c.png"), ("info", "--json"),
    ("help", "nonsense"), ("help", "gray", "hist"), ("gray", "-0", "a.png", "b.png"), ("gray", "", "b.png", "c.png"),
    ("gray", "a.png", ""),
])
def test_2_for_usage_errors(gpuimg, image, args):
    image("a.png")
    image("c.png")
    result = gpuimg(*args)
    assert result.code == 2 and result.out == b"" and result.err, result


def test_2_touches_nothing(gpuimg, image):
    image("a.png")
    image("b.png")
    gpuimg.refused("gray", "--quality", "0", "a.png", "new.png")
    gpuimg.refused("run", "gray | nonsense", "a.png", "new.png")
    gpuimg.refused("gray", "a.png", "b.png", "new.png")
    gpuimg.refused("hist", "-o", "report.xyz", "a.png")


def test_no_arguments_print_a_short_usage(gpuimg):
    result = gpuimg()
    assert result.code == 2 and result.out == b""
    assert result.err.startswith("Usage: gpuimg") and len(result.err.splitlines()) < 10


def test_messages_name_the_file_and_stay_off_stdout(gpuimg, image):
    a = image("a.png")
    result = gpuimg.ok("gray", "-v", "a.png", "-")
    assert decoded(result.out).size == (a.shape[1], a.shape[0])
    assert all(line.startswith("gpuimg: ") for line in result.err.splitlines()) and result.err


def test_control_characters_in_names_cannot_drive_the_terminal(gpuimg):
    result = gpuimg("gray", "a\x1b[31m\n\x9b.png", "b.png")
    assert result.code == 1
    assert "\x1b" not in result.err and "\\x1b[31m\\n" in result.err and len(result.err.splitlines()) == 1


@pytest.mark.parametrize("args", [("hist", "a.png"), ("help",), ("info",), ("--version",)])
def test_1_when_stdout_is_full(gpuimg, image, args):
    image("a.png")
    with open("/dev/full", "wb") as full:
        process = gpuimg.start(*args, stdout=full)
        err = process.communicate(timeout=60)[1]
    assert process.returncode == 1 and b"No space left" in err


def test_1_when_stdout_is_a_closed_pipe(gpuimg, image):
    image("a.png")
    for args in [("hist", "a.png"), ("gray", "a.png", "-"), ("help",)]:
        process = gpuimg.start(*args)
        process.stdout.close()
        process.wait(timeout=60)
        # A short text may have gone into the pipe before it was closed.
        assert process.returncode in (0, 1)
        process.stderr.close()


def test_whoever_stops_reading_is_told_nothing(gpuimg, image):
    """As `| head` does. Of an image or an array cut short he is."""
    names = [f"{i}.png" for i in range(30)]
    for name in names:
        image(name)
    for args in (["hist", *names], ["hist", "--format", "json", *names], ["hist", "--total", *names], ["info", *names],
                 ["info", "--json", *names], ["help"], ["--version"], ["bench", "--list"], ["reduce", "sum", "0.png"],
                 ["run", "--explain", "gray", *names], ["bench", "add", "--quick", "--device", "cpu"],
                 ["bench", "add", "--quick", "--device", "cpu", "--json", "-"]):
        done = unread(gpuimg, args)
        assert (done.returncode, done.stderr) == (1, b""), (args, done)
    for args in (["gray", "0.png", "-"], ["hist", "--format", "png", "0.png"]):
        done = unread(gpuimg, args)
        assert done.returncode == 1 and b"cannot write" in done.stderr and b"Broken pipe" in done.stderr, (args, done)


def unread(gpuimg, args):
    """What becomes of it where nobody reads its output."""
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as pipe:
        return subprocess.run([gpuimg.path, *args], cwd=gpuimg.directory, env=gpuimg.environment(), stdout=pipe,
                              stderr=subprocess.PIPE, timeout=60)


def test_closed_standard_streams_do_no_harm(gpuimg, image, tmp_path):
    image("a.png")
    code = gpuimg.start("gray", "a.png", "b.png", stdin=None, stdout=None, stderr=None,
                        preexec_fn=lambda: [__import__("os").close(i) for i in range(3)]).wait(timeout=60)
    assert code == 0 and decoded((tmp_path / "b.png").read_bytes()).mode == "L"


@pytest.mark.parametrize("descriptor, args", [
    (1, ["gray", "a.png", "-"]), (1, ["hist", "a.png"]), (1, ["--version"]), (1, ["help"]), (1, ["info"]),
    (0, ["gray", "-", "b.png"]), (0, ["gray", "--files-from", "-", "out"]),
])
def test_1_when_the_stream_in_use_is_closed(gpuimg, image, descriptor, args):
    image("a.png")
    run = gpuimg.start(*args, preexec_fn=lambda: os.close(descriptor))
    _, said = run.communicate(timeout=60)
    assert run.returncode == 1 and b"Bad file descriptor" in said, said
