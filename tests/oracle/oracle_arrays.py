"""Arrays through gpuimg: by the program, a process for each call; or by the library in this process, because one on a GPU
spends most of its time on its start."""

import ctypes as c
import os
import pathlib

import numpy as np

OPERATIONS = {"sum": 0, "prod": 1, "min": 2, "max": 3, "mean": 4}
NAMES = {"f4": "f32", "f8": "f64", "i4": "i32", "i8": "i64", "u1": "u8"}


class ByProgram:
    """`gpuimg` is the fixture of that name."""

    def __init__(self, gpuimg):
        self.gpuimg, self.folder = gpuimg, gpuimg.folder

    def reduce(self, values, operation, algorithm="auto"):
        np.save(self.folder / "in.npy", values)
        text = self.gpuimg.run("reduce", operation, self.folder / "in.npy", "--algo", algorithm).stdout
        return float(text) if values.dtype.kind == "f" or operation == "mean" else int(text)

    def scan(self, values, operation, exclusive=False, algorithm="auto"):
        np.save(self.folder / "in.npy", values)
        self.gpuimg.run("scan", operation, self.folder / "in.npy", "-o", self.folder / "out.npy", "--algo", algorithm,
                        *["--exclusive"] * exclusive)
        return np.load(self.folder / "out.npy")

    def matmul(self, a, b, algorithm="auto"):
        np.save(self.folder / "a.npy", a)
        np.save(self.folder / "b.npy", b)
        self.gpuimg.run("matmul", "--algo", algorithm, self.folder / "a.npy", self.folder / "b.npy", "-o",
                        self.folder / "c.npy")
        return np.load(self.folder / "c.npy")


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("place_offset", c.c_int), ("place_length", c.c_int), ("text", c.c_char * 500)]


class Matrix(c.Structure):
    _fields_ = [("data", c.c_void_p), ("rows", c.c_size_t), ("columns", c.c_size_t), ("stride", c.c_size_t)]


def address(array):
    return c.c_void_p(array.ctypes.data)


class ByLibrary:
    """A context of the library on `device`; the library is that of the build that GPUIMG is from, or GPUIMG_LIBRARY."""

    def __init__(self, device):
        built = pathlib.Path(os.environ["GPUIMG"]).resolve().parent.parent / "lib" / "libgpuimg.so"
        self.library, self.context = c.CDLL(os.environ.get("GPUIMG_LIBRARY", str(built))), c.c_void_p()
        self.call("context_open", device.encode(), 0, c.byref(self.context))

    def close(self):
        self.library.gpuimg_context_close(self.context)

    def call(self, name, *arguments):
        error = Error()
        failed = getattr(self.library, "gpuimg_" + name)(*arguments, c.byref(error))
        assert not failed, f"{name}: {error.text.decode()}"

    def reduce(self, values, operation, algorithm="auto"):
        name, size = NAMES[values.dtype.str[1:]], c.c_size_t(values.size)
        if values.dtype.kind != "f" and operation == "mean":
            result = c.c_double()
            self.call("mean_" + name, self.context, address(values), size, algorithm.encode(), c.byref(result))
        else:
            result = c.c_double() if values.dtype.kind == "f" else c.c_int64()
            self.call("reduce_" + name, self.context, OPERATIONS[operation], address(values), size, algorithm.encode(),
                      c.byref(result))
        return result.value

    def scan(self, values, operation, exclusive=False, algorithm="auto"):
        out = np.empty(values.shape, values.dtype if values.dtype.kind == "f" else "i8")
        self.call("scan_" + NAMES[values.dtype.str[1:]], self.context, OPERATIONS[operation], int(exclusive),
                  address(values), address(out), c.c_size_t(values.size), algorithm.encode())
        return out

    def matmul(self, a, b, algorithm="auto"):
        a, b = np.ascontiguousarray(a, "f4"), np.ascontiguousarray(b, "f4")
        out = np.full((a.shape[0], b.shape[1]), np.nan, "f4")
        matrices = [c.byref(Matrix(m.ctypes.data, *m.shape, m.shape[1])) for m in (a, b, out)]
        self.call("matmul", self.context, *matrices, algorithm.encode())
        return out
