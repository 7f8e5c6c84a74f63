"""Helpers of the command-line tests: the program under test (env GPUIMG) and small images to feed it."""
import io
import os
import struct
import subprocess
import zlib

import numpy as np
import pytest
from PIL import Image


class Result:
    def __init__(self, code, out, err):
        self.code = code
        self.out = out
        self.err = err.decode("utf-8", "surrogateescape")

    @property
    def text(self):
        return self.out.decode()

    def __repr__(self):
        return f"exit {self.code}\nstdout {self.out[:500]!r}\nstderr {self.err}"


class Program:
    """Runs gpuimg in a directory of its own."""

    def __init__(self, path, directory):
        self.path = path
        self.directory = directory

    @property
    def sanitized(self):
        """Built with AddressSanitizer, which reserves more memory than a limit would allow."""
        with open(self.path, "rb") as file:
            return b"__asan_init" in file.read()

    def environment(self, extra=None):
        env = {k: v for k, v in os.environ.items() if not k.startswith("GPUIMG_") and k not in ("COLUMNS", "NO_COLOR")}
        env.update({"LC_ALL": "C.UTF-8", "TERM": "xterm"})
        env.update(extra or {})
        return env

    def __call__(self, *args, stdin=b"", env=None, timeout=60, **options):
        command = [os.fsencode(self.path)] + [os.fsencode(a) for a in args]
        done = subprocess.run(command, input=stdin, capture_output=True, cwd=self.directory,
                              env=self.environment(env), timeout=timeout, **options)
        return Result(done.returncode, done.stdout, done.stderr)

    def start(self, *args, **options):
        command = [os.fsencode(self.path)] + [os.fsencode(a) for a in args]
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        env = self.environment(options.pop("env_extra", None))
        return subprocess.Popen(command, cwd=self.directory, env=env, **options)

    def ok(self, *args, **options):
        result = self(*args, **options)
        assert result.code == 0, result
        return result

    def refused(self, *args, **options):
        """A usage error: exit 2, a reason, nothing on standard output and nothing touched."""
        before = listing(self.directory)
        result = self(*args, **options)
        assert result.code == 2, result
        assert result.out == b"" and result.err.startswith("gpuimg: "), result
        assert listing(self.directory) == before, result
        return result


def listing(directory):
    """Every path below a directory with its content or link target."""
    found = {}
    for root, directories, files in os.walk(os.fsencode(directory)):
        for name in directories + files:
            path = os.path.join(root, name)
            if os.path.islink(path):
                found[path] = os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[path] = file.read()
            else:
                found[path] = None
    return found


def pixels(height=24, width=31, channels=3, seed=1):
    shape = (height, width) if channels == 1 else (height, width, channels)
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def encoded(array, kind="PNG", **options):
    data = io.BytesIO()
    mode = {2: "LA"}.get(array.shape[2] if array.ndim == 3 else 1)
    Image.fromarray(array, mode).save(data, kind, **options)
    return data.getvalue()


def decoded(data):
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_header(width, height, colour=2):
    """A PNG whose header announces that size, with hardly any data behind it."""
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) +
            chunk(b"IEND", b""))


def gray601(array):
    r, g, b = (array[..., i].astype(np.int64) for i in range(3))
    return ((9798 * r + 19235 * g + 3735 * b + 16384) >> 15).astype(np.uint8)


@pytest.fixture(scope="session")
def binary():
    path = os.environ.get("GPUIMG")
    if not path or not os.access(path, os.X_OK):
        pytest.exit("set GPUIMG to the gpuimg program to test", returncode=2)
    return os.path.abspath(path)


@pytest.fixture
def gpuimg(binary, tmp_path):
    return Program(binary, tmp_path)


@pytest.fixture
def image(tmp_path):
    """image(name, ...) writes a small image there and returns its pixels; the format follows the name."""
    def make(name, array=None, **options):
        array = pixels(seed=len(os.fsencode(name))) if array is None else array
        path = os.path.join(os.fsencode(tmp_path), os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        kind = "JPEG" if path.lower().endswith((b".jpg", b".jpeg")) else "PNG"
        with open(path, "wb") as file:
            file.write(encoded(array, options.pop("kind", kind), **options))
        return array
    return make
