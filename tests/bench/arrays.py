#!/usr/bin/env python3
"""Times the primitives on arrays beside NumPy's, in turn and in one process, by the library.

    GPUIMG_LIBRARY=build/release/lib/libgpuimg.so tests/bench/arrays.py [--threads N] [--count N] [--sizes N,N] [--json FILE]

NumPy's matrix product is as fast as its BLAS: that of pip's wheels is OpenBLAS, that of Debian's package may be the
reference. Its sums and scans use one core whatever the threads. Medians and the best of each; a ratio above 1 says that
gpuimg is faster. It wants a machine that does nothing else."""
import argparse
import ctypes as c
import json
import os
import statistics
import sys
import time

SUM, MAX = 0, 3


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--count", type=int, default=1 << 25, help="elements of reductions and scans")
    parser.add_argument("--sizes", default="256,1024,2048", help="sides of the matrices")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json")
    return parser.parse_args()


args = parse()
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):  # before NumPy is loaded
    os.environ[name] = str(args.threads)
import numpy as np  # noqa: E402

gpuimg = c.CDLL(os.environ.get("GPUIMG_LIBRARY", "libgpuimg.so.0"))


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("place_offset", c.c_int), ("place_length", c.c_int), ("text", c.c_char * 500)]


class Matrix(c.Structure):
    _fields_ = [("data", c.c_void_p), ("rows", c.c_size_t), ("columns", c.c_size_t), ("stride", c.c_size_t)]


def call(function, *arguments):
    error = Error()
    if function(*arguments, c.byref(error)):
        sys.exit(f"{function.__name__}: {error.text.decode()}")


context = c.c_void_p()
call(gpuimg.gpuimg_context_open, b"cpu", args.threads, c.byref(context))


def matrix(array):
    return c.byref(Matrix(array.ctypes.data, *array.shape, array.strides[0] // 4))


def pointer(array):
    return c.c_void_p(array.ctypes.data)


def seconds(work):
    if args.threads > 1:  # the other's threads wait for more work in a loop for a while, and would take our cores
        time.sleep(0.1)
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def compare(name, ours, theirs, amount, unit):
    """Both in turn; `amount` of `unit` is done by either."""
    ours()
    theirs()
    times = [(seconds(ours), seconds(theirs)) for _ in range(args.rounds)]
    row = {"work": name, "unit": unit, "threads": args.threads}
    for who, column in zip(("gpuimg", "numpy"), zip(*times)):
        row[who] = {"median_ms": statistics.median(column) * 1e3, "best_ms": min(column) * 1e3,
                    "rate": amount / min(column) / 1e9}
    row["ratio_median"] = row["numpy"]["median_ms"] / row["gpuimg"]["median_ms"]
    row["ratio_best"] = row["numpy"]["best_ms"] / row["gpuimg"]["best_ms"]
    print(f"{name:22} {row['gpuimg']['rate']:8.1f} {row['numpy']['rate']:8.1f} {unit:8} "
          f"best {row['ratio_best']:5.2f}  median {row['ratio_median']:5.2f}", flush=True)
    return row


def matmuls(rng):
    for side in map(int, args.sizes.split(",")):
        a, b = (rng.standard_normal((side, side), dtype=np.float32) for _ in range(2))
        mine, numpys = np.empty_like(a), np.empty_like(a)
        yield compare(f"matmul {side}", lambda: call(gpuimg.gpuimg_matmul, context, matrix(a), matrix(b), matrix(mine),
                                                     None),
                      lambda: np.matmul(a, b, out=numpys), 2 * side**3, "GFLOP/s")
        assert np.allclose(mine, numpys, rtol=0, atol=side * 1e-5)


KINDS = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64, "u8": np.uint8}


def reductions(name, kind, array):
    function, result = getattr(gpuimg, f"gpuimg_reduce_{name}"), c.create_string_buffer(8)
    for operation, theirs in ((SUM, np.sum), (MAX, np.max)):
        yield compare(f"{theirs.__name__.replace('amax', 'max')} {name}",
                      lambda: call(function, context, operation, pointer(array), c.c_size_t(array.size), None, result),
                      lambda: theirs(array), array.nbytes, "GB/s")


def scans(name, kind, array):
    out = np.ones(array.size, kind if name[0] == "f" else np.int64)
    function = getattr(gpuimg, f"gpuimg_scan_{name}")
    for operation, theirs in ((SUM, np.add), (MAX, np.maximum)):
        yield compare(f"scan {theirs.__name__} {name}",
                      lambda: call(function, context, operation, 0, pointer(array), pointer(out),
                                   c.c_size_t(array.size), None),
                      lambda: theirs.accumulate(array, out=out, dtype=out.dtype), array.nbytes + out.nbytes, "GB/s")


def main():
    rng = np.random.default_rng(1)
    rows = list(matmuls(rng))
    for name, kind in KINDS.items():
        array = rng.integers(0, 100, args.count).astype(kind)
        rows += [*reductions(name, kind, array), *scans(name, kind, array)]
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"numpy": np.__version__, "count": args.count, "rows": rows}, file, indent=1)


main()
