"""matmul, reduce and scan against numpy in double, and against math.fsum."""

import math

import numpy as np
import pytest

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


def reduce(gpuimg, values, operation, **options):
    np.save(gpuimg.folder / "in.npy", values)
    return float(gpuimg.run("reduce", operation, gpuimg.folder / "in.npy", **options).stdout)


def scan(gpuimg, values, operation, *options):
    np.save(gpuimg.folder / "in.npy", values)
    gpuimg.run("scan", operation, gpuimg.folder / "in.npy", "-o", gpuimg.folder / "out.npy", *options)
    return np.load(gpuimg.folder / "out.npy")


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_float_sums_err_no_more_than_pairwise_ones(gpuimg, count, kind):
    values = ill_conditioned(count).astype(kind)
    exact = math.fsum(values.tolist())
    error = abs(reduce(gpuimg, values, "sum") - exact)
    assert error <= pairwise_bound(values.tolist()) + abs(exact) * 2.0**-53, (error, exact)
    assert abs(reduce(gpuimg, values, "mean") - exact / count) <= pairwise_bound(values.tolist()) / count * 1.01


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_float_extremes_and_products(gpuimg, count, kind):
    values = np.random.default_rng(SEED).standard_normal(count).astype(kind)
    assert reduce(gpuimg, values, "min") == values.min() and reduce(gpuimg, values, "max") == values.max()
    near_one = (1 + values / 1000).astype(kind)
    product = np.prod(near_one.astype(np.longdouble))
    # Every factor adds a rounding, whatever the tree.
    assert abs(reduce(gpuimg, near_one, "prod") - product) <= count * 2.0**-53 * product


@pytest.mark.parametrize("kind", ["i4", "i8", "u1"])
def test_integers(gpuimg, kind):
    info = np.iinfo(kind)
    for count in SIZES:
        values = np.random.default_rng(count).integers(info.min, info.max, count, dtype=kind, endpoint=True)
        values = values // 2**20 if kind == "i8" else values
        exact = sum(values.tolist())
        assert reduce(gpuimg, values, "mean") == exact / count
        assert int(gpuimg.run("reduce", "sum", gpuimg.folder / "in.npy").stdout) == exact
        assert reduce(gpuimg, values, "max") == values.max() and reduce(gpuimg, values, "min") == values.min()
        assert np.array_equal(scan(gpuimg, values, "sum"), np.cumsum(values.astype("i8")))
        assert np.array_equal(scan(gpuimg, values, "max"), np.maximum.accumulate(values))
        before = np.concatenate([[0], np.cumsum(values.astype("i8"))[:-1]])
        assert np.array_equal(scan(gpuimg, values, "sum", "--exclusive"), before)


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_float_scans(gpuimg, count, kind):
    values = ill_conditioned(count).astype(kind)
    exact = np.cumsum(values.astype(np.longdouble))
    magnitudes = np.cumsum(np.abs(values.astype(np.longdouble)))
    got = scan(gpuimg, values, "sum").astype(np.longdouble)
    # Three steps in a run, five in a row, sixteen rows, twice the levels above tiles, the last additions.
    bound = (3 + 5 + 16 + 2 * max(0, math.log2(count / 4096)) + 3) * 2.0**-53 * magnitudes
    bound += np.abs(exact) * np.finfo(kind).eps / 2
    assert np.all(np.abs(got - exact) <= bound)
    assert np.array_equal(scan(gpuimg, values, "min"), np.minimum.accumulate(values))
    exclusive = scan(gpuimg, values, "sum", "--exclusive")
    assert exclusive[0] == 0 and np.array_equal(exclusive[1:], got[:-1].astype(kind))


def test_scans_with_nan_and_infinities(gpuimg):
    values = np.array([1, -np.inf, 2, np.inf, 3, np.nan, 4])
    assert np.array_equal(scan(gpuimg, values, "max"), np.maximum.accumulate(values), equal_nan=True)
    with np.errstate(invalid="ignore"):
        sums = np.cumsum(values)
    assert np.array_equal(scan(gpuimg, values, "sum"), sums, equal_nan=True)
    assert math.isnan(reduce(gpuimg, values, "min"))
    assert scan(gpuimg, values, "max", "--exclusive")[0] == -np.inf


SHAPES = [(1, 1, 1), (0, 3, 4), (3, 0, 4), (3, 4, 0), (1, 1000, 1), (1, 33, 700), (700, 33, 1), (14, 32, 384),
          (15, 33, 385), (17, 31, 13), (129, 257, 65), (300, 400, 500)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("algorithm", ["auto", "naive", "fast"])
def test_matmul(gpuimg, shape, algorithm):
    m, k, n = shape
    rng = np.random.default_rng(SEED)
    a, b = rng.standard_normal((m, k)).astype("f4"), np.asfortranarray(rng.standard_normal((k, n)).astype(">f4"))
    np.save(gpuimg.folder / "a.npy", a)
    np.save(gpuimg.folder / "b.npy", b)
    gpuimg.run("matmul", "--algo", algorithm, gpuimg.folder / "a.npy", gpuimg.folder / "b.npy", "-o",
               gpuimg.folder / "c.npy")
    got, exact = np.load(gpuimg.folder / "c.npy"), a.astype("f8") @ b.astype("f8")
    assert got.shape == (m, n) and got.dtype == np.float32
    bound = (k + 2) * 2.0**-24 * (np.abs(a.astype("f8")) @ np.abs(b.astype("f8")))
    assert np.all(np.abs(got - exact) <= bound * (1 + 1e-6))


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
