"""Completion as a person meets it: in interactive shells on a pseudo-terminal.

GPUIMG_SHARE is the folder with the generated files, GPUIMG the program."""
import os
import pty
import select
import shutil
import time

import pytest

SHARE = os.environ["GPUIMG_SHARE"]
TIMEOUT_S = 30


class Shell:
    """An interactive shell, in which ^Xp is to append the line being typed to $LINES_FILE."""

    def __init__(self, argv, setup, folder, notes):
        self.notes = notes
        self.lines = notes / "lines"
        self.lines.write_bytes(b"")
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.chdir(folder)
            path = os.path.dirname(os.environ["GPUIMG"]) + ":" + os.environ["PATH"]
            os.environ.update(TERM="dumb", PS1="> ", INPUTRC="/dev/null", LC_ALL="C.UTF-8", COLUMNS="200", PATH=path,
                              LINES_FILE=str(self.lines))
            os.execvp(argv[0], argv)
        self.send(setup + "\n")
        self.typed("")

    def send(self, text):
        os.write(self.terminal, text.encode())

    def read(self, wait_s):
        return os.read(self.terminal, 65536) if select.select([self.terminal], [], [], wait_s)[0] else b""

    def typed(self, keys):
        """Types the keys into an empty line: (the line then, what the terminal showed meanwhile)."""
        before, shown, end = self.lines.stat().st_size, b"", time.monotonic() + TIMEOUT_S
        self.send(keys + "\x18p")
        while not self.lines.read_bytes()[before:].endswith(b"\n"):
            shown += self.read(0.02)
            assert time.monotonic() < end, f"no answer to {keys!r}: {shown!r}"
        while more := self.read(0):
            shown += more
        self.send("\x15")
        return self.lines.read_bytes()[before:-1].decode(), shown.decode(errors="replace")

    def complete(self, line):
        return self.typed(line + "\t")[0]

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.child, 0)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Files to complete, apart from what the shells write."""
    folder = tmp_path_factory.mktemp("completion")
    for name in ("a.png", "B.JPG", "my photo.jpeg", "notes.txt", "r.json", "x:y.png", "data.npy"):
        (folder / name).write_bytes(b"")
    (folder / "subfolder").mkdir()
    return folder


def needs(name):
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed", allow_module_level=True)
