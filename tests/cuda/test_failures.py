"""Each way in which a GPU can fail has its own message and its own end: the program (env GPUIMG) with the faults of debug
builds, over the fake runtime, or on a device of compute capability 9.0."""
import os
import re
import subprocess
import zlib

import numpy as np
import pytest
from PIL import Image

PROGRAM = os.environ["GPUIMG"]
HEAVY = "heat inner=20"


def run(tmp_path, *args, fault=None, **env):
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("GPUIMG_")}, "OMP_NUM_THREADS": "1", **env}
    if fault:
        env["GPUIMG_CUDA_FAULT"] = fault
    done = subprocess.run([PROGRAM, *args], cwd=tmp_path, env=env, capture_output=True, timeout=120)
    return done.returncode, done.stderr.decode()


@pytest.fixture(autouse=True)
def images(tmp_path):
    pixels = np.random.default_rng(1).integers(0, 256, (90, 70, 3), np.uint8)
    for name in "ab":
        Image.fromarray(pixels).save(tmp_path / f"{name}.png")


def result(tmp_path, *args, **options):
    code, said = run(tmp_path, *args, "a.png", "out.png", **options)
    assert code == 0, said
    return np.asarray(Image.open(tmp_path / "out.png")), said


def same(tmp_path, pipeline, **options):
    """What is said by a run whose bytes are the CPU's."""
    wanted, _ = result(tmp_path, "run", pipeline, "--device", "cpu")
    got, said = result(tmp_path, "run", pipeline, **options)
    assert np.array_equal(wanted, got)
    return said


@pytest.mark.parametrize("fault,words", [
    ("no-driver", "no NVIDIA driver is installed"),
    ("old-driver", r"the NVIDIA driver is too old: it supports CUDA 11\.4, and this build needs CUDA \d+\.0"),
    ("no-device", "the NVIDIA driver shows no CUDA device"),
    ("busy", "creating a context: the device is busy: another process has it for itself"),
    ("no-code", r"this build has no code that runs on its architecture sm_90 .*CMAKE_CUDA_ARCHITECTURES=90"),
    ("lost", "the device failed and is lost to this process"),
])
def test_a_device_that_is_asked_for_fails_once(tmp_path, fault, words):
    code, said = run(tmp_path, "gray", "--device", "cuda", "a.png", "b.png", "out/", fault=fault)
    assert code == 3 and len(re.findall(words, said)) == 1, said
    assert not list(tmp_path.glob("out/*"))


def automatic(tmp_path, *options, **settings):
    """What is said by a run that `auto` takes a GPU for, because of an image that only announces its size."""
    wanted, _ = result(tmp_path, "run", HEAVY, "--device", "cpu")
    with open(tmp_path / "a.png", "rb") as file:
        head = bytearray(file.read(33))
    head[16:24] = (20000).to_bytes(4, "big") * 2
    head[29:33] = zlib.crc32(head[12:29]).to_bytes(4, "big")
    (tmp_path / "huge.png").write_bytes(head)
    code, said = run(tmp_path, "run", HEAVY, *options, "a.png", "b.png", "huge.png", "out", **settings)
    assert code == 1 and "huge.png" in said, said
    for name in "ab":
        assert np.array_equal(wanted, np.asarray(Image.open(tmp_path / "out" / f"{name}.png")))
    return "".join(line + "\n" for line in said.splitlines() if "huge.png" not in line)


@pytest.mark.parametrize("fault", ["no-driver", "old-driver", "no-device", "busy", "no-code"])
def test_auto_does_without_and_says_so_if_asked(tmp_path, fault):
    assert "GPU" not in automatic(tmp_path, fault=fault)
    assert "no GPU is usable: " in automatic(tmp_path, "-v", fault=fault)


def test_auto_speaks_of_no_gpu_where_there_is_no_driver(tmp_path):
    """Also of work that a GPU would not pay for."""
    _, said = result(tmp_path, "gray", "-v", fault="no-driver")
    assert re.match(r"gpuimg: device cpu \(.*\): no GPU is usable: no NVIDIA driver is installed\n", said)
    assert result(tmp_path, "gray", fault="no-driver")[1] == ""


def test_auto_says_what_it_expects(tmp_path):
    said = automatic(tmp_path, "-v")
    assert re.search(r"device cuda \(.*background\): .* add about [0-9.]+ s on \d+ cores? and [0-9.]+ s on a GPU", said)


@pytest.mark.parametrize("fault", ["lost", "lost@2", "device-memory", "device-memory@2"])
def test_auto_goes_on_on_the_cpu(tmp_path, fault):
    assert "done on the CPU instead" in automatic(tmp_path, fault=fault)


def test_no_device_memory(tmp_path):
    code, said = run(tmp_path, "gray", "--device", "cuda", "a.png", "out.png", fault="device-memory")
    assert code == 1 and "out of device memory" in said
    assert not (tmp_path / "out.png").exists()


@pytest.mark.parametrize("fault", ["device-memory@1-1", "device-memory@2-3", "device-memory@3-4", "device-memory@3-5",
                                   "host-memory", "host-memory@2-2"])
@pytest.mark.parametrize("pipeline", ["blur radius=2 | gray", "gray"])  # the fake blur has scratch memory
def test_less_memory_is_enough(tmp_path, pipeline, fault):
    for rows in "1000", "20":
        assert same(tmp_path, pipeline, fault=fault, GPUIMG_DEVICE="cuda", GPUIMG_BAND_ROWS=rows) == ""


@pytest.mark.parametrize("pipeline", ["gray", "threshold otsu", "equalize", "blur radius=9", "heat steps=3 inner=2",
                                      "gray | blur radius=3 | equalize | threshold otsu"])
@pytest.mark.parametrize("rows", ["1000", "7", "33"])
@pytest.mark.parametrize("start_ms", ["0", "150"])
def test_the_same_bytes(tmp_path, pipeline, rows, start_ms):
    """The first image is decoded while the device starts, the second through a window of rows."""
    wanted, _ = result(tmp_path, "run", pipeline, "--device", "cpu")
    code, said = run(tmp_path, "run", pipeline, "--device", "cuda", "--workers", "1", "-q", "a.png", "b.png", "out",
                     GPUIMG_BAND_ROWS=rows, FAKE_CUDA_START_MS=start_ms)
    assert code == 0 and said == "", said
    for name in "ab":
        assert np.array_equal(wanted, np.asarray(Image.open(tmp_path / "out" / f"{name}.png")))


def test_the_first_image_is_decoded_while_the_device_starts(tmp_path):
    _, said = result(tmp_path, "run", "gray", "--device", "cuda", "-v", FAKE_CUDA_START_MS="300")
    assert re.search(r"device cuda:0 \(.+, sm_90\): as asked for", said)


def test_damage_is_found_while_the_device_starts(tmp_path):
    whole = (tmp_path / "a.png").read_bytes()
    (tmp_path / "a.png").write_bytes(whole[:len(whole) * 2 // 3])
    code, said = run(tmp_path, "gray", "--strict", "--device", "cuda", "a.png", "out.png", GPUIMG_BAND_ROWS="8",
                     FAKE_CUDA_START_MS="300")
    assert code == 1 and "a.png" in said and not (tmp_path / "out.png").exists(), said


# ---- arrays -----------------------------------------------------------------------------------------------------------


def product(tmp_path, *options, size=40, **settings):
    """Status, words and result of a product."""
    rng = np.random.default_rng(1)
    for name in "ab":
        np.save(tmp_path / f"{name}.npy", rng.standard_normal((size, size), "f4"))
    (tmp_path / "c.npy").unlink(missing_ok=True)
    code, said = run(tmp_path, "matmul", "a.npy", "b.npy", "-o", "c.npy", *options, **settings)
    return code, said, np.load(tmp_path / "c.npy") if code == 0 else None


@pytest.mark.parametrize("fault,status,words", [
    ("no-driver", 3, "no NVIDIA driver is installed"), ("busy", 3, "the device is busy"),
    ("device-memory", 1, "out of device memory"), ("lost", 3, "lost to this process")])
def test_products_on_a_device_that_is_asked_for(tmp_path, fault, status, words):
    code, said, _ = product(tmp_path, "--device", "cuda", fault=fault)
    assert code == status and words in said and not (tmp_path / "c.npy").exists(), said


@pytest.fixture
def one_core():
    """For what runs meanwhile, so that a GPU pays soon."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    yield
    os.sched_setaffinity(0, cores)


@pytest.mark.parametrize("fault", ["busy", "no-code", "device-memory", "lost"])
def test_products_that_auto_leaves_a_device_for(tmp_path, one_core, fault):
    code, said, got = product(tmp_path, "-v", "--algo", "fast", size=2600, fault=fault)
    assert code == 0 and "device cpu" in said, said
    assert "not on cuda" in said or "no GPU is usable" in said, said  # the start was over before
    assert np.array_equal(got, product(tmp_path, "--device", "cpu", "--algo", "fast", size=2600)[2])


@pytest.mark.parametrize("fault", ["device-memory@1-1", "device-memory@2-3", "device-memory@4-5", "host-memory",
                                   "host-memory@2-2"])
def test_arrays_with_less_memory(tmp_path, fault):
    _, _, wanted = product(tmp_path, "--device", "cpu")
    code, said, got = product(tmp_path, "--device", "cuda", fault=fault)
    assert code == 0 and said == "" and np.allclose(wanted, got, atol=1e-5)
    np.save(tmp_path / "v.npy", np.arange(100000, dtype="i4"))
    code, said = run(tmp_path, "scan", "sum", "v.npy", "-o", "s.npy", "--device", "cuda", fault=fault)
    assert code == 0 and np.array_equal(np.load(tmp_path / "s.npy"), np.cumsum(np.arange(100000))), said


def test_products_without_cublas(tmp_path):
    code, said, _ = product(tmp_path, "--algo", "cublas", LD_LIBRARY_PATH="")
    assert (code == 3 and "libcublas" in said) or code == 0, said  # a system may have it in its place


@pytest.mark.skipif("GPUIMG_LISTENER" not in os.environ, reason="no listener was built")
def test_ranges_for_profilers(tmp_path):
    listener = {"NVTX_INJECTION64_PATH": os.environ["GPUIMG_LISTENER"], "RANGES": str(tmp_path / "ranges")}
    result(tmp_path, "run", "blur radius=2", "--device", "cuda", GPUIMG_BAND_ROWS="20", **listener)
    ranges = (tmp_path / "ranges").read_text().split()
    assert set(ranges) == {"start", "decode", "upload", "kernels", "download", "encode", "end"}
    assert ranges.count("end") * 2 == len(ranges)
    for name in "upload", "kernels", "download", "encode":
        assert ranges.count(name) == 5, name  # a band each
