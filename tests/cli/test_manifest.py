"""--manifest and --retry-failed: a line for each input, whole lines after a kill, any name, hostile lines."""
import hashlib
import json
import os
import signal
import subprocess
import time

import pytest

from conftest import encoded, pixels


def lines(path):
    data = path.read_bytes()
    assert data == b"" or data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def by_path(path):
    found = {line["path"]: line for line in lines(path)}
    assert len(found) == len(lines(path))
    return found


@pytest.fixture
def batch(image, tmp_path):
    """in/ with a.png, b.png (damaged), c.png, sub/d.png (damaged)."""
    image("in/a.png")
    image("in/c.png")
    data = encoded(pixels())
    (tmp_path / "in/sub").mkdir()
    (tmp_path / "in/b.png").write_bytes(data[:len(data) // 2])
    (tmp_path / "in/sub/d.png").write_bytes(data[:len(data) // 2])
    return tmp_path


def repair(batch):
    for name in ("in/b.png", "in/sub/d.png"):
        (batch / name).write_bytes(encoded(pixels()))


def has_sha256(gpuimg):
    return "SHA-256     none" not in gpuimg.ok("info").text


def test_a_line_for_each_input(gpuimg, batch):
    result = gpuimg("gray", "-r", "--manifest", "m.jsonl", "in", "out")
    found = by_path(batch / "m.jsonl")
    assert result.code == 1 and sorted(found) == ["in/a.png", "in/b.png", "in/c.png", "in/sub/d.png"]
    for path, line in found.items():
        assert list(line) == ["path", "status", "reason", "output", "bytes", "ms", "pipeline"]
        assert line["pipeline"] == "gray weights=601"
        output = batch / line["output"]
        assert line["output"] == path.replace("in/", "out/", 1) and line["ms"] > 0
        if path in ("in/b.png", "in/sub/d.png"):
            assert line["status"] == "failed" and line["bytes"] == 0 and not output.exists()
            assert f"gpuimg: {path}: {line['reason']}\n" in result.err
        else:
            assert (line["status"], line["reason"], line["bytes"]) == ("done", None, output.stat().st_size)
    gpuimg("gray", "-r", "--skip-existing", "--manifest", "m.jsonl", "in", "out")
    assert [by_path(batch / "m.jsonl")[f"in/{n}.png"]["status"] for n in "abc"] == ["skipped", "failed", "skipped"]


@pytest.mark.parametrize("quiet", [[], ["-q"]])
def test_damage_that_still_decodes_is_told(gpuimg, tmp_path, quiet):
    data = encoded(pixels(64, 64), "JPEG")
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.jpg").write_bytes(data[:len(data) // 2])
    (tmp_path / "in/b.jpg").write_bytes(data)
    (tmp_path / "in/notes.txt").write_text("no image")
    result = gpuimg.ok("gray", *quiet, "--manifest", "m.jsonl", "in", "out")
    found = by_path(tmp_path / "m.jsonl")
    assert sorted(found) == ["in/a.jpg", "in/b.jpg"]
    assert {line["status"] for line in found.values()} == {"done"} and found["in/b.jpg"]["reason"] is None
    assert "cut short" in found["in/a.jpg"]["reason"]
    assert quiet or found["in/a.jpg"]["reason"] in result.err
    assert "nothing to do again" in gpuimg("gray", "--retry-failed", "m.jsonl").err


def test_sha256(gpuimg, batch):
    if not has_sha256(gpuimg):
        assert "nettle" in gpuimg.refused("gray", "--manifest", "m.jsonl", "--sha256", "in", "out").err
        pytest.skip("this build has no SHA-256")
    assert "--manifest" in gpuimg.refused("gray", "--sha256", "in", "out").err
    gpuimg("gray", "--manifest", "m.jsonl", "--sha256", "in", "out")
    for line in lines(batch / "m.jsonl"):
        if line["status"] == "done":
            assert line["sha256"] == hashlib.sha256((batch / line["output"]).read_bytes()).hexdigest()
        else:
            assert line["sha256"] is None


def test_of_a_report(gpuimg, batch):
    gpuimg("hist", "--manifest", "m.jsonl", "-o", "r.json", "in")
    assert [(line["output"], line["bytes"]) for line in lines(batch / "m.jsonl")] == [(None, 0)] * 3
    repair(batch)
    again = gpuimg.ok("hist", "--retry-failed", "m.jsonl", "--format", "json").text
    assert [image["file"] for image in json.loads(again)["images"]] == ["in/b.png"]


def test_to_standard_output(gpuimg, batch):
    out = gpuimg("gray", "--manifest", "-", "in", "out").text
    assert [json.loads(line)["status"] for line in out.splitlines()].count("done") == 2
    with open("/dev/full", "wb") as full:
        process = gpuimg.start("gray", "--manifest", "-", "in/a.png", "b.png", stdout=full)
        assert process.communicate()[1].startswith(b"gpuimg: standard output: cannot write: No space")
    assert "standard output" in gpuimg.refused("gray", "--manifest", "-", "in/a.png", "-").err
    assert "standard output" in gpuimg.refused("hist", "--manifest", "-", "in/a.png").err
    found = lines_of(gpuimg("gray", "--manifest", "m.jsonl", "-", "b.png", stdin=encoded(pixels())), batch)
    assert (found[0]["path"], found[0]["output"]) == (None, "b.png")


@pytest.mark.parametrize("option", ["--manifest", "--stats-json", "--trace"])
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "link"])
def test_a_descriptor_is_written_to_as_it_is(gpuimg, batch, option, name):
    (batch / "link").symlink_to("/dev/stdout")
    with open(batch / "log", "w+b", buffering=0) as log:
        log.write(b"first\n")
        inode = os.fstat(log.fileno()).st_ino
        process = gpuimg.start("gray", option, name, "in/a.png", "b.png", stdout=log)
        assert process.wait(timeout=20) == 0 and not process.stderr.read()
        process.communicate()
    assert (batch / "log").stat().st_ino == inode
    first, rest = (batch / "log").read_bytes().split(b"\n", 1)
    assert first == b"first" and isinstance(json.loads(rest), dict)


def test_two_records_of_one_descriptor(gpuimg, batch):
    for names in (("-", "/dev/stdout"), ("/dev/fd/1", "-"), ("/dev/stdout", "/proc/self/fd/1")):
        result = gpuimg.refused("gray", "--manifest", names[0], "--trace", names[1], "in", "out")
        assert "manifest and trace would be one file" in result.err


@pytest.mark.parametrize("option, what", [("--manifest", "manifest"), ("--stats-json", "file of statistics"),
                                          ("--trace", "trace")])
def test_nothing_mixes_with_an_image_or_a_report(gpuimg, batch, option, what):
    (batch / "link").symlink_to("/dev/stdout")
    names = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link")
    for name in names:
        for out in names:
            err = gpuimg.refused("gray", "--format", "png", "in/a.png", out, option, name).err
            assert f"image and {what} would be one file: both go to standard output" in err
            err = gpuimg.refused("hist", "--format", "json", "in/a.png", "-o", out, option, name).err
            assert f"{what} and report would be one file: both go to standard output" in err
        err = gpuimg.refused("hist", "in/a.png", option, name).err
        assert f"{what} and report would be one file: both go to standard output" in err
        gpuimg.ok("gray", "in/a.png", "b.png", option, name)
        gpuimg.ok("hist", "in/a.png", "-o", "r.json", option, name)
    gpuimg.ok("gray", "in/a.png", "-", option, "/dev/stderr")
    (batch / "-").write_bytes((batch / "in/a.png").read_bytes())
    (batch / "list").write_text("-\n")
    gpuimg.ok("gray", "--files-from", "list", "b.png", option, "-")


def through(gpuimg, folder, name, descriptor, *args):
    """Runs it with the descriptor open on the file, to read and to write; the file must stay as it is."""
    before = (folder / name).read_bytes()
    command = ["sh", "-c", f'exec "$@" {descriptor}<>{name}', "sh", gpuimg.path, *args]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=folder, timeout=60,
                          env=gpuimg.environment(), text=True)
    assert done.returncode == 2 and (folder / name).read_bytes() == before, done
    return done.stderr


def test_a_descriptor_of_an_input_is_not_written_to(gpuimg, batch):
    os.link(batch / "in/a.png", batch / "v.png")
    (batch / "link").symlink_to("/dev/fd/3")
    for name in ("v.png", "in/a.png"):
        for own in ("/dev/fd/3", "/proc/self/fd/3", "link"):
            for option, what in (("--manifest", "manifest"), ("--stats-json", "file of statistics"), ("--trace", "trace")):
                err = through(gpuimg, batch, name, 3, "gray", "v.png", "o.png", option, own)
                assert f"the {what} would replace the input v.png" in err
            err = through(gpuimg, batch, name, 3, "gray", "v.png", own, "--format", "png")
            assert f"the output {own} would replace the input v.png" in err
            err = through(gpuimg, batch, name, 3, "gray", own, own, "--format", "png")
            assert f"the output {own} would replace the input {own}" in err
            err = through(gpuimg, batch, name, 3, "hist", "v.png", "-o", own, "--format", "json")
            assert "the report would replace the input v.png" in err
        assert "would replace the input v.png" in through(gpuimg, batch, name, 1, "gray", "v.png", "-")
        assert "would replace the input v.png" in through(gpuimg, batch, name, 1, "gray", "v.png", "o.png", "--trace", "-")
        assert "would replace the input v.png" in through(gpuimg, batch, name, 1, "hist", "v.png")
    (batch / "o.png").write_bytes(b"old")
    err = through(gpuimg, batch, "o.png", 3, "gray", "v.png", "o.png", "--manifest", "/dev/fd/3")
    assert "image and manifest would be one file" in err
    assert "would be one file" in through(gpuimg, batch, "o.png", 3, "gray", "v.png", "x.png", "--trace", "o.png",
                                          "--manifest", "/dev/fd/3")
    gpuimg.ok("gray", "v.png", "v.png")


# As by a shell: whoever writes to a FIFO waits for its reader, and can be interrupted at that.
@pytest.mark.parametrize("option", ["--manifest", "--stats-json", "--trace"])
def test_a_fifo(gpuimg, batch, option):
    os.mkfifo(batch / "pipe")
    process = gpuimg.start("gray", option, "pipe", "in/a.png", "b.png")
    time.sleep(0.3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130 and process.communicate() == (b"", b"")
    assert not (batch / "b.png").exists()
    process = gpuimg.start("gray", option, "pipe", "in/a.png", "b.png")
    assert isinstance(json.loads((batch / "pipe").read_bytes()), dict)
    assert process.wait(timeout=20) == 0
    process.communicate()


def lines_of(result, folder):
    assert result.code == 0, result
    return lines(folder / "m.jsonl")


def test_a_manifest_replaces_no_image(gpuimg, batch):
    (batch / "link").symlink_to("in/a.png")
    for name in ("in/a.png", "link", "out/a.png", "./out/a.png", "in/../out/a.png"):
        assert "the manifest would replace" in gpuimg.refused("gray", "--manifest", name, "in", "out").err
    (batch / "m.jsonl").write_bytes(b"kept\n")
    result = gpuimg("gray", "--no-clobber", "--manifest", "m.jsonl", "in", "out")
    assert result.code == 1 and "m.jsonl: exists already" in result.err
    assert (batch / "m.jsonl").read_bytes() == b"kept\n"
    result = gpuimg("gray", "--manifest", "no/such/m.jsonl", "in", "out")
    assert result.code == 1 and "no/such/m.jsonl: cannot write: No such file" in result.err
    gpuimg("gray", "--manifest", "new/m.jsonl", "in", "new")
    assert len(lines(batch / "new/m.jsonl")) == 3


def test_one_run_at_a_time_writes_it(gpuimg, batch):
    os.mkfifo(batch / "pipe")
    process = gpuimg.start("gray", "--manifest", "m.jsonl", "pipe", "one.png")
    while not (batch / "m.jsonl").exists():
        time.sleep(0.01)
    time.sleep(0.1)
    result = gpuimg("gray", "--manifest", "m.jsonl", "in", "out")
    assert result.code == 1 and "another run is writing to it" in result.err
    (batch / "pipe").write_bytes(encoded(pixels()))
    assert process.wait(timeout=20) == 0 and len(lines(batch / "m.jsonl")) == 1
    process.communicate()


def test_a_manifest_that_cannot_be_written_stops(gpuimg, batch):
    result = gpuimg("gray", "-j1", "--manifest", "/dev/full", "in", "out")
    assert result.code == 1 and "/dev/full: cannot write: No space left" in result.err and "not started" in result.err


def test_what_was_not_started(gpuimg, batch):
    gpuimg("gray", "-j1", "-r", "--fail-fast", "--manifest", "m.jsonl", "in", "out")
    assert [line["status"] for line in lines(batch / "m.jsonl")] == ["done", "failed", "not started", "not started"]
    repair(batch)
    gpuimg.ok("gray", "--retry-failed", "m.jsonl")
    assert sorted(os.listdir(batch / "out")) == ["a.png", "b.png", "c.png", "sub"]


@pytest.mark.parametrize("args", [(), ("out",), ("out/",), ("-r", "in", "out"), ("in/b.png", "in/sub/d.png", "out")])
def test_retry(gpuimg, batch, args):
    gpuimg("gray", "-r", "--manifest", "m.jsonl", "in", "out")
    repair(batch)
    before = (batch / "out/a.png").stat().st_mtime_ns
    result = gpuimg.ok("gray", "--retry-failed", "m.jsonl", *args)
    assert result.err == "gpuimg: 2 done\n" and (batch / "out/a.png").stat().st_mtime_ns == before
    assert (batch / "out/b.png").exists()
    assert (batch / ("out/d.png" if args[:1] == ("in/b.png",) else "out/sub/d.png")).exists()
    assert (batch / "m.jsonl").read_bytes().count(b"failed") == 2


def test_a_retry_may_go_on_in_its_manifest(gpuimg, batch):
    gpuimg("gray", "-r", "--manifest", "m.jsonl", "in", "out")
    (batch / "in/b.png").write_bytes(encoded(pixels()))
    with open(batch / "m.jsonl", "ab") as file:
        file.write(b'{"path":"torn')
    again = ("gray", "--retry-failed", "m.jsonl", "--manifest", "m.jsonl")
    result = gpuimg(*again)
    assert result.code == 1 and "m.jsonl: warning: line 5 was cut off" in result.err
    assert [line["status"] for line in lines(batch / "m.jsonl")[4:]].count("done") == 1
    repair(batch)
    gpuimg.ok(*again)
    assert len(lines(batch / "m.jsonl")) == 7
    assert "nothing to do again" in gpuimg.ok(*again).err


def test_names_of_any_bytes(gpuimg, image, tmp_path):
    names = [b"plain.png", "ü€😀.png".encode(), b"\xff\xfe.png", b"a\n\t\"\\b.png", b"\x01\x7f.png", b"-", b"\xef\xbf\xbd.png"]
    data = encoded(pixels())
    (tmp_path / "in").mkdir()
    for name in names:
        (tmp_path / "in" / os.fsdecode(name)).write_bytes(data[:100])
    gpuimg("gray", "--manifest", "m.jsonl", "in", "out")
    found = lines(tmp_path / "m.jsonl")
    exact = sorted(bytes.fromhex(line["path_hex"]) if "path_hex" in line else line["path"].encode() for line in found)
    assert exact == sorted(b"in/" + name for name in names)
    for name in names:
        (tmp_path / "in" / os.fsdecode(name)).write_bytes(data)
    assert gpuimg.ok("gray", "--retry-failed", "m.jsonl").err == f"gpuimg: {len(names)} done\n"
    assert sorted(os.listdir(os.fsencode(tmp_path / "out"))) == sorted(names)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everywhere")
def test_a_directory_that_cannot_be_read(gpuimg, batch):
    (batch / "in/sub").chmod(0)
    gpuimg("gray", "-r", "--manifest", "m.jsonl", "in", "out")
    (batch / "in/sub").chmod(0o755)
    found = by_path(batch / "m.jsonl")["in/sub"]
    assert found["directory"] and found["output"] == "out/sub" and "Permission denied" in found["reason"]
    repair(batch)
    gpuimg.ok("gray", "-r", "--retry-failed", "m.jsonl")
    assert (batch / "out/sub/d.png").exists()


def test_a_directory_is_walked_again(gpuimg, batch):
    repair(batch)
    (batch / "m.jsonl").write_text('{"path":"in/sub","status":"failed","output":"out/x","directory":true}\n')
    gpuimg.ok("gray", "--retry-failed", "m.jsonl")
    assert os.listdir(batch / "out/x") == ["d.png"]
    assert gpuimg.ok("gray", "-r", "--retry-failed", "m.jsonl", "in", "out2").err == "gpuimg: 1 done\n"


GOOD = '{"path":"in/b.png","status":"failed","output":"out/b.png"}'


@pytest.mark.parametrize("line,reason", [
    ("", "an object is wanted"),
    ("[]", "an object is wanted"),
    ('{"status":"failed","output":null}', "it has no path"),
    ('{"path":"in/b.png","output":"out/b.png"}', "it has no status"),
    ('{"path":"in/b.png","status":"failed"}', "it has no output"),
    ('{"path":"in/b.png","status":"lost","output":"o"}', "none of done, skipped, failed and not started"),
    ('{"path":7,"status":"failed","output":"o"}', "a string is wanted"),
    ('{"path":"","status":"failed","output":"o"}', "path is empty"),
    ('{"path":"a\\u0000b","status":"failed","output":"o"}', "a NUL in a string"),
    ('{"path":"a","path_hex":"6","status":"failed","output":"o"}', "path_hex holds no name"),
    ('{"path":"a","path_hex":"6100","status":"failed","output":"o"}', "path_hex holds no name"),
    ('{"path":"a","path_hex":"62","status":"failed","output":"o"}', "different names"),
    (GOOD + GOOD, "more text behind"),
    (GOOD.replace("}", ',"x":' + "[" * 100 + "}"), "nested too deep"),
    ('{"path":"in/b.png","status":"failed","output":null}', "names no output"),
])
def test_hostile_lines(gpuimg, batch, line, reason):
    (batch / "m.jsonl").write_text(f"{GOOD}\n{line}\n{GOOD.replace('b.png', 'c.png')}\n")
    result = gpuimg.refused("gray", "--retry-failed", "m.jsonl")
    assert "line 2" in result.err and reason in result.err, result


@pytest.mark.parametrize("directory, inside, outside", [
    ("in", ["in/a.png", "in//a.png", "in/sub/d.png", "in/./sub/d.png"], ["b.png", "./in/a.png", "in/../b.png", "inside/e.png"]),
    ("in//", ["in/a.png", "in/sub/d.png", "in/sub/./d.png"], ["in/sub/../a.png", "inside/e.png"]),
    ("in/sub", ["in/sub/d.png", "in/sub//d.png"], ["in/a.png", "in/sub/../a.png"]),
    ("in/..", ["in/../b.png", "in/.././b.png"], ["in/a.png", "b.png"]),
    ("/", ["{}/b.png", "//{}/in/a.png"], ["b.png", "{}/in/../b.png", "/../{}/b.png"])])
def test_what_lies_in_a_directory(gpuimg, batch, image, directory, inside, outside):
    repair(batch)
    image("b.png")
    image("inside/e.png")
    (batch / "m.jsonl").write_text(
        json.dumps({"path": directory, "status": "failed", "directory": True, "output": "out"}) + "\n")
    for names, done in ((inside, True), (outside, False)):
        for number, name in enumerate(names):
            out = f"out{done}{number}.png"
            gpuimg.ok("gray", "--retry-failed", "m.jsonl", name.format(batch), out)
            assert (batch / out).exists() == done, name


def test_a_retry_after_many_directories_is_quick(gpuimg, batch):
    count = 40000
    (batch / "names").write_text("".join(f"photos/{i}.png\n" for i in range(count)))

    def seconds(directory):
        with open(batch / "m.jsonl", "w") as file:
            for i in range(count):
                file.write(json.dumps({"path": f"photos/folder{i}", "status": "failed", "directory": directory,
                                       "output": "out"}) + "\n")
        begun = time.monotonic()
        gpuimg.ok("gray", "--retry-failed", "m.jsonl", "--files-from", "names", "out")
        return time.monotonic() - begun

    assert seconds(True) < 5 * seconds(False) + 1


def test_outputs_outside_of_out(gpuimg, batch):
    for output in ("elsewhere/b.png", "outer/b.png", "out/../b.png", "out/.."):
        (batch / "m.jsonl").write_text(GOOD.replace("out/b.png", output) + "\n")
        assert "does not lie in OUT" in gpuimg.refused("gray", "--retry-failed", "m.jsonl", "out").err
        assert "does not lie in OUT" in gpuimg.refused("gray", "--retry-failed", "m.jsonl", "").err


def test_what_else_is_refused(gpuimg, batch):
    (batch / "m.jsonl").write_text(f"{GOOD}\n{GOOD.replace('in/b', 'in/c')}\n")
    assert "out/b.png" in gpuimg.refused("gray", "--retry-failed", "m.jsonl").err  # two inputs to one output
    assert gpuimg("gray", "--retry-failed", "missing.jsonl").code == 1
    gpuimg.refused("gray", "--retry-failed", "m.jsonl", "-")
    (batch / "m.jsonl").write_bytes(b"")
    assert "nothing to do again" in gpuimg.ok("gray", "--retry-failed", "m.jsonl").err


def test_a_stopped_run_is_gone_on_with(gpuimg, tmp_path):
    (tmp_path / "in").mkdir()
    for i in range(40):
        (tmp_path / f"in/{i:02}.png").write_bytes(encoded(pixels(300, 300)))
    process = gpuimg.start("gray", "-j2", "--manifest", "m.jsonl", "in", "out")
    while process.poll() is None and not ((tmp_path / "m.jsonl").exists() and (tmp_path / "m.jsonl").stat().st_size):
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    found = by_path(tmp_path / "m.jsonl")
    left = [line for line in found.values() if line["status"] == "not started"]
    assert process.returncode == 130 and len(found) == 40 and 0 < len(left) < 40
    assert gpuimg.ok("gray", "--retry-failed", "m.jsonl").err == f"gpuimg: {len(left)} done\n"
    assert len(os.listdir(tmp_path / "out")) == 40


def test_a_kill_leaves_whole_lines(gpuimg, tmp_path):
    (tmp_path / "in").mkdir()
    for i in range(300):
        (tmp_path / f"in/{i}.png").write_bytes(encoded(pixels(8, 8)))
    for wait in (0, 0.002, 0.005, 0.01, 0.02):
        process = gpuimg.start("gray", "--manifest", "m.jsonl", "in", "out")
        while process.poll() is None and not (tmp_path / "m.jsonl").exists():
            pass
        time.sleep(wait)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        for line in lines(tmp_path / "m.jsonl") if (tmp_path / "m.jsonl").exists() else []:
            assert line["status"] == "done" and (tmp_path / line["output"]).stat().st_size == line["bytes"]
        (tmp_path / "m.jsonl").unlink(missing_ok=True)


@pytest.mark.parametrize("name", ["list.txt", "./list.txt", "link.txt"])
def test_what_says_what_to_do_is_not_replaced(gpuimg, batch, name):
    """Lists of names, pipeline files and manifests, which no other copy may exist of."""
    (batch / "pipe.txt").write_text("gray | hist")
    (batch / "stages").write_text("gray")
    (batch / "list.txt").write_text("in/a.png\n")
    (batch / "link.txt").symlink_to("list.txt")
    failed = json.dumps({"path": "in/b.png", "status": "failed", "output": "x.json"}) + "\n"
    (batch / "x.json").write_text(failed)
    before = {path.name: path.read_bytes() for path in batch.iterdir() if path.is_file()}
    for command in (("hist", "--files-from", "list.txt", "-o", name), ("hist", "--files-from", "list.txt", "--manifest", name),
                    ("gray", "--files-from", "list.txt", "--stats-json", name, "out.png"),
                    ("run", "--pipeline-file", "pipe.txt", "in/a.png", "-o", "pipe.txt"),
                    ("run", "--pipeline-file", "stages", "--format", "png", "in/a.png", "stages"),
                    ("run", "--pipeline-file", "stages", "in/a.png", "out.png", "--trace", "stages"),
                    ("gray", "--retry-failed", "x.json", "--stats-json", "x.json"),
                    ("gray", "--retry-failed", "x.json", "--format", "png")):
        assert "would replace the" in gpuimg.refused(*command).err, command
    assert {path.name: path.read_bytes() for path in batch.iterdir() if path.is_file()} == before


def test_standard_input_stays_a_failure(gpuimg, batch):
    (batch / "m.json").write_text(json.dumps({"path": None, "status": "failed", "output": "k.png"}) + "\n")
    result = gpuimg("gray", "--retry-failed", "m.json")
    assert result.code == 1 and "standard input: failed, and cannot be read again" in result.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_the_reason_why_there_is_no_manifest(gpuimg, batch):
    (batch / "shut").mkdir(mode=0o555)
    assert "Permission denied" in gpuimg("gray", "--manifest", "shut/new.json", "in/a.png", "out.png").err


def test_a_retry_of_another_pipeline_is_said(gpuimg, batch):
    gpuimg("blur", "--radius", "2", "-r", "--manifest", "m.jsonl", "in", "out")
    for command in ("threshold", "hist"):
        out = ("out",) if command == "threshold" else ()
        result = gpuimg(command, "-r", "--retry-failed", "m.jsonl", *out)
        assert "gpuimg: m.jsonl: warning: it is of a run of 'blur radius=2" in result.err
        assert f", and this one is of '{command}" in result.err
    # As it was, however it is written; and of a version that did not tell.
    again = gpuimg("run", "blur 2", "-r", "--retry-failed", "m.jsonl", "out")
    assert again.code == 1 and "warning" not in again.err
    old = [{k: v for k, v in line.items() if k != "pipeline"} for line in lines(batch / "m.jsonl")]
    (batch / "old.jsonl").write_text("".join(json.dumps(line) + "\n" for line in old))
    assert "warning" not in gpuimg("threshold", "-r", "--retry-failed", "old.jsonl", "out").err
    repair(batch)  # then nothing is left that the warning would be about
    gpuimg.ok("blur", "--radius", "2", "-r", "--retry-failed", "m.jsonl", "--manifest", "m.jsonl", "out")
    assert "warning" not in gpuimg.ok("threshold", "-r", "--retry-failed", "m.jsonl", "out").err


def test_a_retry_of_what_is_no_manifest_says_what_is_wanted(gpuimg, batch):
    gpuimg.ok("hist", "-o", "report.json", "in/a.png")
    (batch / "text").write_bytes(b"no newline")
    for name in ("report.json", "in/a.png", "text"):
        err = gpuimg.refused("gray", "--retry-failed", name).err
        assert f"gpuimg: {name}: line 1 is no line of a manifest, as --manifest writes them: " in err
