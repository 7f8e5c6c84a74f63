"""What single demonstrations of `bench` promise beyond what test_bench.py asks of all: any size and number of threads, and
figures that follow from the times as their files say."""
import json
import math

import pytest

from test_bench import names


def tables(gpuimg, name, *options):
    text = gpuimg.ok("bench", name, "--quick", "--device", "cpu", "--json", "-", *options).out
    return json.loads(text)["demos"][0]["tables"]


# Each checks its results by itself, and fails when one is wrong.
@pytest.mark.parametrize("size", ["1", "17", "1001"])
@pytest.mark.parametrize("name", names())
def test_any_size(gpuimg, name, size):
    assert tables(gpuimg, name, "--n", size, "-j", "3")


def test_threads(gpuimg):
    measured = tables(gpuimg, "threads", "-j", "5")
    assert len(measured) == 3
    for table in measured:
        rows = table["rows"]
        assert [row["label"] for row in rows] == ["1 thread", "2 threads", "4 threads", "5 threads"]
        first, counts = rows[0]["ms"], [1, 2, 4, 5]
        shares = [(row["ms"] / first - 1 / p, 1 - 1 / p) for row, p in zip(rows, counts)]
        serial = sum(y * u for y, u in shares) / sum(u * u for _, u in shares)
        for row, p in zip(rows, counts):
            assert math.isclose(row["speed-up"], first / row["ms"], rel_tol=1e-4)
            assert math.isclose(row["efficiency %"], 100 * first / row["ms"] / p, rel_tol=1e-4)
            fit = first * (serial + (1 - serial) / p)
            assert math.isclose(row["Amdahl's fit ms"], fit, rel_tol=1e-3, abs_tol=1e-3 * first)
        if abs(serial - 1) > 1e-3:
            fitted = f"{100 * serial:.1f} %"[:1] if serial < 1 else "none that fits"
            assert f"fitted serial part: {fitted}" in table["notes"][0]


def test_one_thread_fits_nothing(gpuimg):
    for table in tables(gpuimg, "threads", "-j", "1"):
        row, = table["rows"]
        assert row["Amdahl's fit ms"] is None and "at least two" in table["notes"][0]


def test_transfer_sizes(gpuimg):
    table = tables(gpuimg, "transfer", "--n", "300001")[0]
    labels = [row["label"] for row in table["rows"] if "why" not in row]
    assert labels == ["1 KB", "4 KB", "16 KB", "64 KB", "256 KB", "300001 bytes"]


def test_sizes_that_are_powers_of_two(gpuimg):
    for name, note in (("sort", "8192 keys"), ("coalescing", "8192 floats"), ("texture", "128 x 128 pixels from 64 x 64")):
        size = "127" if name == "texture" else "16383"
        assert note in tables(gpuimg, name, "--n", size)[0]["notes"][0]


def test_no_memory(gpuimg):
    result = gpuimg("bench", "banks", "--n", "100G", "--quick", "--device", "cpu")
    assert result.code == 1 and "bench banks: no memory for two matrices" in result.err
