#!/usr/bin/env python3
"""NumPy arrays multiplied, added up and scanned by gpuimg, by ctypes: pip install numpy

    GPUIMG_LIBRARY=build/release/lib/libgpuimg.so samples/python/arrays.py"""
import ctypes as c
import math
import os
import sys

import numpy as np

gpuimg = c.CDLL(os.environ.get("GPUIMG_LIBRARY", "libgpuimg.so.0"))
SUM, PROD, MIN, MAX, MEAN = range(5)


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("place_offset", c.c_int), ("place_length", c.c_int), ("text", c.c_char * 500)]


class Matrix(c.Structure):
    """gpuimg_matrix: the rows of a float32 array, which must live as long as this."""
    _fields_ = [("data", c.c_void_p), ("rows", c.c_size_t), ("columns", c.c_size_t), ("stride", c.c_size_t)]

    def __init__(self, array):
        assert array.dtype == np.float32 and array.strides[1] == 4
        super().__init__(array.ctypes.data, *array.shape, array.strides[0] // 4)


def call(function, *arguments):
    error = Error()
    if function(*arguments, c.byref(error)):
        sys.exit(f"{function.__name__}: {error.text.decode()}")


context = c.c_void_p()
call(gpuimg.gpuimg_context_open, b"auto", 0, c.byref(context))

rng = np.random.default_rng(1)
a, b = rng.standard_normal((300, 200)).astype("f4"), rng.standard_normal((200, 100)).astype("f4")
product = np.empty((300, 100), "f4")
call(gpuimg.gpuimg_matmul, context, c.byref(Matrix(a)), c.byref(Matrix(b)), c.byref(Matrix(product)), None)
error = np.abs(product - a.astype("f8") @ b).max()

values, total = rng.standard_normal(1_000_000), c.c_double()
call(gpuimg.gpuimg_reduce_f64, context, SUM, c.c_void_p(values.ctypes.data), c.c_size_t(values.size), None,
     c.byref(total))

counts, sums = rng.integers(0, 256, 1000).astype(np.uint8), np.empty(1000, np.int64)
call(gpuimg.gpuimg_scan_u8, context, SUM, 0, c.c_void_p(counts.ctypes.data), c.c_void_p(sums.ctypes.data),
     c.c_size_t(counts.size), None)
gpuimg.gpuimg_context_close(context)

print(f"product of 300 x 200 by 200 x 100, {'well' if error < 1e-4 else 'not'} within 1e-4 of NumPy in double")
print(f"sum of a million numbers, {abs(total.value - math.fsum(values)):.0e} from the exact one")
print(f"running sums {'equal' if np.array_equal(sums, np.cumsum(counts, dtype=np.int64)) else 'unlike'} NumPy's")
