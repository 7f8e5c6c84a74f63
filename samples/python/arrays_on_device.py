#!/usr/bin/env python3
"""Running sums of an array that is on the GPU already, by ctypes. With PyTorch or CuPy, whose arrays know their address
(tensor.data_ptr(), array.data.ptr) and their stream, no more is needed than the one call: pip install numpy

    GPUIMG_LIBRARY=build/release/lib/libgpuimg.so samples/python/arrays_on_device.py"""
import ctypes as c
import os
import sys

import numpy as np

gpuimg = c.CDLL(os.environ.get("GPUIMG_LIBRARY", "libgpuimg.so.0"))
SUM, HOST_TO_DEVICE, DEVICE_TO_HOST = 0, 1, 2


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("place_offset", c.c_int), ("place_length", c.c_int), ("text", c.c_char * 500)]


def call(function, *arguments):
    error = Error()
    if function(*arguments, c.byref(error)):
        sys.exit(f"{function.__name__}: {error.text.decode()}")


context = c.c_void_p()
call(gpuimg.gpuimg_context_open, b"cuda", 0, c.byref(context))
cuda = c.CDLL(os.environ.get("CUDART_LIBRARY", "libcudart.so"))
cuda.cudaMalloc.argtypes, cuda.cudaFree.argtypes = [c.c_void_p, c.c_size_t], [c.c_void_p]
cuda.cudaMemcpy.argtypes = [c.c_void_p, c.c_void_p, c.c_size_t, c.c_int]

values = np.random.default_rng(1).integers(-1000, 1000, 1_000_000, dtype=np.int32)
sums = np.empty(values.size, np.int64)
on_device, sums_on_device = c.c_void_p(), c.c_void_p()
failed = cuda.cudaMalloc(c.byref(on_device), values.nbytes) or cuda.cudaMalloc(c.byref(sums_on_device), sums.nbytes)
failed = failed or cuda.cudaMemcpy(on_device, values.ctypes.data, values.nbytes, HOST_TO_DEVICE)
if failed:
    sys.exit(f"CUDA: error {failed}")
default_stream = None
call(gpuimg.gpuimg_scan_i32_device, context, SUM, 0, on_device, sums_on_device, c.c_size_t(values.size), None,
     default_stream)
cuda.cudaMemcpy(sums.ctypes.data, sums_on_device, sums.nbytes, DEVICE_TO_HOST)
cuda.cudaFree(on_device)
cuda.cudaFree(sums_on_device)
gpuimg.gpuimg_context_close(context)
verdict = "equal" if np.array_equal(sums, np.cumsum(values, dtype=np.int64)) else "unlike"
print(f"running sums on the device {verdict} NumPy's")
