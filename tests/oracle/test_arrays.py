"""matmul, reduce and scan against numpy in double, and against math.fsum."""

import math
import os

import numpy as np
import pytest

from oracle_arrays import ByLibrary, ByProgram

SEED = 20261130
SIZES = [1, 7, 255, 2048, 4097, 100003]


def ill_conditioned(count, seed=SEED):
    """Doubles of magnitudes over 40 binary digits whose sum is far below them."""
    rng = np.random.default_rng(seed)
    half = rng.standard_normal(count // 2) * np.exp2(rng.integers(-20, 20, count // 2))
    rest = rng.standard_normal(count - 2 * (count // 2)) * 1e-6
    values = np.concatenate([half, -half * (1 + rng.standard_normal(count // 2) * 1e-12), rest])
    rng.shuffle(values)
    return values


def pairwise_bound(values):
    return math.ceil(math.log2(max(len(values), 2))) * 2.0**-53 * math.fsum(abs(v) for v in values)


ON_GPU = os.environ.get("GPUIMG_TEST_DEVICE", "cpu") != "cpu"
REDUCTIONS = ["auto", "interleaved", "sequential", "shuffle", "cub"] if ON_GPU else ["auto"]
SCANS = ["auto", "kogge-stone", "brent-kung", "lookback", "cub"] if ON_GPU else ["auto"]
PRODUCTS = ["auto", "naive", "fast"]
if ON_GPU:
    PRODUCTS += ["tiled8", "tiled16", "tiled32", "tf32", "tf32-mma", "cublas", "cublas-tf32"]


@pytest.fixture(scope="session")
def on_gpu():
    """The library's context on the GPU; None where the tests are for the CPU."""
    context = ByLibrary(os.environ["GPUIMG_TEST_DEVICE"]) if ON_GPU else None
    yield context
    if context:
        context.close()


@pytest.fixture
def arrays(gpuimg, on_gpu):
    return on_gpu or ByProgram(gpuimg)


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_float_sums_err_no_more_than_pairwise_ones(arrays, count, kind):
    values = ill_conditioned(count).astype(kind)
    exact = math.fsum(values.tolist())
    error = abs(arrays.reduce(values, "sum") - exact)
    assert error <= pairwise_bound(values.tolist()) + abs(exact) * 2.0**-53, (error, exact)
    assert abs(arrays.reduce(values, "mean") - exact / count) <= pairwise_bound(values.tolist()) / count * 1.01


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_float_extremes_and_products(arrays, count, kind):
    values = np.random.default_rng(SEED).standard_normal(count).astype(kind)
    assert arrays.reduce(values, "min") == values.min() and arrays.reduce(values, "max") == values.max()
    near_one = (1 + values / 1000).astype(kind)
    product = np.prod(near_one.astype(np.longdouble))
    # Every factor adds a rounding, whatever the tree.
    assert abs(arrays.reduce(near_one, "prod") - product) <= count * 2.0**-53 * product


@pytest.mark.parametrize("kind", ["i4", "i8", "u1"])
def test_integers(arrays, kind):
    info = np.iinfo(kind)
    for count in SIZES:
        values = np.random.default_rng(count).integers(info.min, info.max, count, dtype=kind, endpoint=True)
        values = values // 2**20 if kind == "i8" else values
        exact = sum(values.tolist())
        for algorithm in REDUCTIONS:
            assert arrays.reduce(values, "mean", algorithm) == exact / count
            assert arrays.reduce(values, "sum", algorithm) == exact
            assert arrays.reduce(values, "max", algorithm) == values.max()
            assert arrays.reduce(values, "min", algorithm) == values.min()
        sums = np.cumsum(values.astype("i8"))
        for algorithm in SCANS:
            assert np.array_equal(arrays.scan(values, "sum", False, algorithm), sums)
            assert np.array_equal(arrays.scan(values, "max", False, algorithm), np.maximum.accumulate(values))
            assert np.array_equal(arrays.scan(values, "sum", True, algorithm), np.concatenate([[0], sums[:-1]]))


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_float_scans(arrays, count, kind):
    values = ill_conditioned(count).astype(kind)
    exact = np.cumsum(values.astype(np.longdouble))
    magnitudes = np.cumsum(np.abs(values.astype(np.longdouble)))
    got = arrays.scan(values, "sum").astype(np.longdouble)
    # Three steps in a run, five in a row, sixteen rows, twice the levels above tiles, the last additions.
    bound = (3 + 5 + 16 + 2 * max(0, math.log2(count / 4096)) + 3) * 2.0**-53 * magnitudes
    bound += np.abs(exact) * np.finfo(kind).eps / 2
    assert np.all(np.abs(got - exact) <= bound)
    assert np.array_equal(arrays.scan(values, "min"), np.minimum.accumulate(values))
    exclusive = arrays.scan(values, "sum", exclusive=True)
    assert exclusive[0] == 0 and np.array_equal(exclusive[1:], got[:-1].astype(kind))


def test_scans_with_nan_and_infinities(arrays):
    values = np.array([1, -np.inf, 2, np.inf, 3, np.nan, 4])
    assert np.array_equal(arrays.scan(values, "max"), np.maximum.accumulate(values), equal_nan=True)
    with np.errstate(invalid="ignore"):
        sums = np.cumsum(values)
    assert np.array_equal(arrays.scan(values, "sum"), sums, equal_nan=True)
    assert math.isnan(arrays.reduce(values, "min"))
    assert arrays.scan(values, "max", exclusive=True)[0] == -np.inf


SHAPES = [(1, 1, 1), (0, 3, 4), (3, 0, 4), (3, 4, 0), (1, 1000, 1), (1, 33, 700), (700, 33, 1), (14, 32, 384),
          (15, 33, 385), (17, 31, 13), (129, 257, 65), (300, 400, 500)]


def product_bound(k, algorithm):
    """Of each element's error, as a part of the sum of magnitudes: docs of the C API; of tf32 see kernels/matmul.h."""
    if "tf32" in algorithm:
        return (1 + 2.0**-10)**2 * (1 + k * 2.0**-22) - 1
    return (k + 2) * 2.0**-24 * (1 + 1e-6)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("algorithm", PRODUCTS)
def test_matmul(arrays, shape, algorithm):
    m, k, n = shape
    rng = np.random.default_rng(SEED)
    a, b = rng.standard_normal((m, k)).astype("f4"), np.asfortranarray(rng.standard_normal((k, n)).astype(">f4"))
    got, exact = arrays.matmul(a, b, algorithm), a.astype("f8") @ b.astype("f8")
    magnitudes = np.abs(a.astype("f8")) @ np.abs(b.astype("f8"))
    assert got.shape == (m, n) and got.dtype == np.float32
    assert np.all(np.abs(got - exact) <= product_bound(k, algorithm) * magnitudes)


@pytest.mark.skipif(ON_GPU, reason="levels and threads are the CPU's")
def test_the_same_bits_in_every_run_and_at_every_level(gpuimg):
    np.save(gpuimg.folder / "a.npy", ill_conditioned(300001).astype("f4"))
    found = set()
    for level in ("portable", "avx2", "avx512"):
        for threads in ("1", "2", "3"):
            gpuimg.environment.update({"GPUIMG_SIMD": level, "OMP_THREAD_LIMIT": threads})
            text = gpuimg.run("reduce", "sum", gpuimg.folder / "a.npy").stdout
            gpuimg.run("scan", "sum", gpuimg.folder / "a.npy", "-o", gpuimg.folder / "b.npy")
            found.add((text, (gpuimg.folder / "b.npy").read_bytes()))
    assert len(found) == 1


@pytest.mark.skipif(not ON_GPU, reason="compares a GPU with the CPU")
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_the_same_bits_on_either_device(on_gpu, kind):
    on_cpu = ByLibrary("cpu")
    for count in SIZES + [3_000_001]:
        values = ill_conditioned(count).astype(kind)
        for operation in ("sum", "prod", "mean"):
            both = [np.float64(device.reduce(values, operation)).tobytes() for device in (on_cpu, on_gpu)]
            assert both[0] == both[1]
        for exclusive in (False, True):
            both = [device.scan(values, "sum", exclusive).tobytes() for device in (on_cpu, on_gpu)]
            assert both[0] == both[1]
    on_cpu.close()


@pytest.mark.skipif(not ON_GPU, reason="on the CPU all tests do so")
def test_the_program(gpuimg, on_gpu):
    values = ill_conditioned(100003).astype("f4")
    program, a = ByProgram(gpuimg), values[:99900].reshape(333, 300)
    assert program.reduce(values, "sum") == on_gpu.reduce(values, "sum")
    assert np.array_equal(program.scan(values, "sum", True), on_gpu.scan(values, "sum", True))
    assert np.array_equal(program.matmul(a, a.T), on_gpu.matmul(a, a.T))
