#!/usr/bin/env python3
"""Makes a NumPy array gray and prints its histogram, by ctypes. Pillow reads the picture: pip install numpy pillow

    GPUIMG_LIBRARY=build/release/lib/libgpuimg.so samples/python/gpuimg_sample.py samples/landscape.png"""
import ctypes as c
import os
import sys

import numpy as np
from PIL import Image

gpuimg = c.CDLL(os.environ.get("GPUIMG_LIBRARY", "libgpuimg.so.0"))
gpuimg.gpuimg_histogram_counts.restype = c.POINTER(c.c_uint64)


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("place_offset", c.c_int), ("place_length", c.c_int), ("text", c.c_char * 500)]


class View(c.Structure):
    """gpuimg_image: the pixels of an array of height x width x channels, which must live as long as this."""
    _fields_ = [("data", c.c_void_p), ("pitch_bytes", c.c_size_t), ("width", c.c_int), ("height", c.c_int),
                ("channels", c.c_int), ("sample", c.c_int)]

    def __init__(self, array):
        height, width, channels = array.shape
        super().__init__(array.ctypes.data, array.strides[0], width, height, channels, int(array.dtype == np.uint16))


def call(function, *arguments):
    error = Error()
    if function(*arguments, c.byref(error)):
        sys.exit(f"{function.__name__}: {error.text.decode()}")


if len(sys.argv) != 2:
    sys.exit("usage: gpuimg_sample.py IMAGE")
colour = np.array(Image.open(sys.argv[1]).convert("RGB"))
gray = np.empty(colour.shape[:2] + (1,), np.uint8)
context, pipeline, histogram = c.c_void_p(), c.c_void_p(), c.c_void_p()
call(gpuimg.gpuimg_context_open, b"auto", 0, c.byref(context))
call(gpuimg.gpuimg_pipeline_parse, b"gray", c.byref(pipeline))
call(gpuimg.gpuimg_run_image, context, pipeline, c.byref(View(colour)), c.byref(View(gray)))
call(gpuimg.gpuimg_histogram_of_image, context, None, c.byref(View(gray)), c.byref(histogram))
counts = np.ctypeslib.as_array(gpuimg.gpuimg_histogram_counts(histogram, 0), (256,)).copy()
gpuimg.gpuimg_histogram_free(histogram)
gpuimg.gpuimg_pipeline_free(pipeline)
gpuimg.gpuimg_context_close(context)

assert np.array_equal(counts, np.bincount(gray.ravel(), minlength=256))  # as NumPy counts
print(f"{sys.argv[1]}: {gray.shape[1]} x {gray.shape[0]} pixels, mean gray {gray.mean():.2f}")
bins = counts.reshape(16, 16).sum(axis=1)
for i, count in enumerate(bins):
    print(f"{16 * i:5} {count:8} {'#' * int(50 * count / bins.max())}")
