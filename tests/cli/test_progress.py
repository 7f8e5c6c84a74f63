"""Progress: a bar on a pseudo-terminal that garbles nothing, lines of JSON for programs, and neither in a pipe."""
import concurrent.futures
import fcntl
import json
import os
import pty
import re
import select
import struct
import termios
import threading
import time

import pytest

from conftest import Program, encoded, pixels

WAIT_S = 1.5  # for how long a pipe holds the run up: the bar comes after one second


class Screen:
    """A terminal of which is known: text, newline, carriage return, erase to the end of the line."""

    def __init__(self, columns):
        self.columns, self.rows, self.column = columns, [""], 0
        self.bars = []  # what stood in the last row whenever text had come to an end there

    def feed(self, text):
        for token in re.findall(r"\x1b\[K|\r\n|\r|\n|[^\x1b\r\n]+|\x1b", text):
            assert token != "\x1b", text
            if token == "\x1b[K":
                self.rows[-1] = self.rows[-1][:self.column]
                if self.rows[-1]:
                    self.bars.append(self.rows[-1])
            elif token == "\r":
                self.column = 0
            elif token in ("\n", "\r\n"):
                self.rows.append("")
                self.column = 0
            else:
                self.rows[-1] = self.rows[-1][:self.column] + token + self.rows[-1][self.column + len(token):]
                self.column += len(token)


def run(gpuimg, tmp_path, *args, columns=80, env=None, pipes=False, meanwhile=None):
    """Runs with a pseudo-terminal for standard error, or a pipe, held up by a FIFO among the inputs."""
    os.mkfifo(tmp_path / "fifo.png")
    for i in range(4):
        (tmp_path / f"{i}.png").write_bytes(encoded(pixels(40, 40)) if i != 2 else b"\x89PNG\r\n\x1a\nbroken")
    master, terminal = os.pipe() if pipes else pty.openpty()
    if not pipes:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = ["gray", *args, "0.png", "1.png", "2.png", "fifo.png", "3.png", "out"]
    process = gpuimg.start(*command, stderr=terminal, env_extra=env)
    os.close(terminal)
    threading.Thread(target=release, args=(tmp_path, meanwhile, master), daemon=True).start()
    text, end = b"", time.monotonic() + 60
    while time.monotonic() < end:
        if not select.select([master], [], [], 0.1)[0]:
            continue
        try:
            piece = os.read(master, 65536)
        except OSError:  # EIO: the other side is closed
            piece = b""
        if not piece:
            break
        text += piece
    process.communicate(timeout=20)
    os.close(master)
    return process.returncode, text.decode()


def run_each(gpuimg, tmp_path, calls):
    """Several at a time, each in a folder of its own: they mostly wait. calls: (args, options)."""
    def one(i):
        (tmp_path / str(i)).mkdir()
        args, options = calls[i]
        return run(Program(gpuimg.path, tmp_path / str(i)), tmp_path / str(i), "-j1", *args, **options)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        return list(pool.map(one, range(len(calls))))


def release(tmp_path, meanwhile, master):
    time.sleep(WAIT_S)
    if meanwhile:
        meanwhile(master)
        time.sleep(0.5)
    (tmp_path / "fifo.png").write_bytes(encoded(pixels(40, 40)))


MESSAGES = [r"gpuimg: 2.png: .+", r"gpuimg: 4 done, 1 failed", ""]


def messages_of(screen):
    """The rows that stay."""
    assert len(screen.rows) == 3, screen.rows
    return all(re.fullmatch(pattern, row) for pattern, row in zip(MESSAGES, screen.rows))


def test_a_bar(gpuimg, tmp_path):
    widths = [120, 80, 40, 20, 9, 5]
    for columns, (code, text) in zip(widths, run_each(gpuimg, tmp_path, [((), {"columns": c}) for c in widths])):
        screen = Screen(columns)
        screen.feed(text)
        assert code == 1 and messages_of(screen), text
        assert 1 <= len(screen.bars) <= 10 * (WAIT_S - 1) + 3, text
        assert all(len(bar) < columns for bar in screen.bars)
        for bar in screen.bars if columns >= 80 else ():
            assert re.fullmatch(r"\[[█░]{8,30}\] [345]/5, [\d.]+ images/s, [\d.]+ MB/s, 0:0\d left, 1 failed", bar), bar
        assert columns < 9 or all(re.search("[345]/5", bar) for bar in screen.bars)


def test_a_terminal_that_gets_narrower(gpuimg, tmp_path):
    shrink = lambda master: fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 25, 0, 0))
    screen = Screen(100)
    screen.feed(run(gpuimg, tmp_path, "-j1", columns=100, meanwhile=shrink)[1])
    assert messages_of(screen) and len(screen.bars[0]) > 60 and len(screen.bars[-1]) < 25


def test_no_bar(gpuimg, tmp_path):
    calls = [(("-q",), {}), (("--progress=none",), {}), ((), {"env": {"TERM": "dumb"}}), ((), {"env": {"TERM": ""}}),
             ((), {"pipes": True})]
    for _, text in run_each(gpuimg, tmp_path, calls):
        assert "\x1b" not in text and "images/s" not in text and len(text.splitlines()) <= 2, text


def test_ascii_where_the_locale_is(gpuimg, tmp_path):
    screen = Screen(80)
    screen.feed(run(gpuimg, tmp_path, "-j1", env={"LC_ALL": "C"})[1])
    assert re.match(r"\[#+\.+\] [34]/5", screen.bars[0])


@pytest.mark.parametrize("args", [(), ("-q",)])
def test_lines_for_programs(gpuimg, tmp_path, args):
    text = run(gpuimg, tmp_path, "-j1", "--progress=json", *args, pipes=True)[1]
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    others = [line for line in text.splitlines() if not line.startswith("{")]
    assert len(others) == (1 if args else 2) and all(line.startswith("gpuimg: ") for line in others)
    assert 2 <= len(lines) <= 10 * (WAIT_S + 1)
    ended = [line["done"] + line["skipped"] + line["failed"] for line in lines]
    assert ended == sorted(ended) and [line["final"] for line in lines] == [False] * (len(lines) - 1) + [True]
    last = lines[-1]
    assert (last["done"], last["failed"], last["total"], last["seconds_left"]) == (4, 1, 5, 0)
    assert last["bytes_in"] >= 4 * (tmp_path / "0.png").stat().st_size and last["seconds"] > WAIT_S * 0.9
    assert last["bytes_out"] == sum((tmp_path / "out" / name).stat().st_size for name in os.listdir(tmp_path / "out"))


def test_nothing_on_a_terminal_that_shows_the_report(gpuimg, image):
    image("a.png")
    image("b.png")
    master, terminal = pty.openpty()
    process = gpuimg.start("hist", "a.png", "b.png", stdout=terminal, stderr=terminal)
    os.close(terminal)
    data = b""
    try:
        while piece := os.read(master, 65536):
            data += piece
    except OSError:
        pass
    os.close(master)
    assert process.wait(timeout=20) == 0 and b"images/s" not in data


def test_of_nothing(gpuimg, tmp_path):
    (tmp_path / "in").mkdir()
    text = gpuimg.ok("gray", "--progress=json", "in", "out").err
    assert json.loads(text.splitlines()[-1])["total"] == 0
    assert "auto, json or none" in gpuimg.refused("gray", "--progress=bar", "in", "out").err
