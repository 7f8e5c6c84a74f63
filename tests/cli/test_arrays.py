"""matmul, reduce and scan: files, streams, hostile headers, exit statuses, outputs that stay complete."""
import io
import os
import subprocess

import numpy as np
import pytest
from PIL import Image

from conftest import encoded, pixels


def npy(array, version=None):
    data = io.BytesIO()
    np.lib.format.write_array(data, array, version)
    return data.getvalue()


def header(text, version=1):
    text = text.encode()
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(2 if version == 1 else 4, "little") + text


@pytest.fixture
def save(tmp_path):
    def make(name, array, version=None):
        (tmp_path / name).write_bytes(npy(array, version))
        return array
    return make


def test_files_and_streams(gpuimg, save, tmp_path):
    a, b = save("a.npy", np.ones((3, 4), "f4")), save("b.npy", np.arange(8, dtype="f4").reshape(4, 2))
    gpuimg.ok("matmul", "a.npy", "b.npy", "-o", "c.npy")
    assert np.array_equal(np.load(tmp_path / "c.npy"), a @ b)
    for args, stdin in ((("-", "b.npy"), npy(a)), (("a.npy", "-"), npy(b))):
        out = gpuimg.ok("matmul", *args, "-o", "-", stdin=stdin).out
        assert np.array_equal(np.load(io.BytesIO(out)), a @ b)
    assert gpuimg.ok("reduce", "sum", "-", stdin=npy(b)).text == "28\n"
    out = gpuimg.ok("scan", "sum", "-", "--output=-", stdin=npy(np.arange(6).reshape(2, 3))).out
    assert np.load(io.BytesIO(out)).tolist() == [[0, 1, 3], [6, 10, 15]]


def test_a_pipe_of_commands_and_a_redirection(gpuimg, save, tmp_path):
    save("a.npy", np.arange(100000))
    line = f"{gpuimg.path} scan sum a.npy -o - | {gpuimg.path} reduce max - && {gpuimg.path} reduce sum - < a.npy"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout == f"{sum(range(100000))}\n" * 2


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("kind", ["<f4", ">f4", "<f8", ">f8", "<i4", ">i4", "<i8", ">i8", "u1"])
def test_every_version_type_and_order(gpuimg, save, tmp_path, version, kind):
    array = (np.arange(60) % 7).astype(kind).reshape(3, 4, 5)
    for order in "CF":
        save("a.npy", np.asarray(array, order=order), version)
        gpuimg.ok("scan", "sum", "a.npy", "-o", "b.npy")
        got = np.load(tmp_path / "b.npy")
        assert got.dtype == (kind[1:] if "f" in kind else "i8") and got.flags.c_contiguous
        assert np.array_equal(got, np.cumsum(array.ravel()).reshape(3, 4, 5))


def test_nan_payloads_are_not_touched_by_what_only_moves_them(gpuimg, tmp_path):
    bits = np.array([0x7F812345, 0x3F800000], np.uint32)
    (tmp_path / "a.npy").write_bytes(npy(bits.view("f4")))
    # A scan makes NaN canonical; reading and writing as such are checked in C.
    gpuimg.ok("scan", "max", "a.npy", "-o", "b.npy")
    assert np.load(tmp_path / "b.npy").view(np.uint32).tolist() == [0x7FC00000, 0x7FC00000]


HOSTILE = {
    "negative": ("{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}", "negative"),
    "huge": ("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "larger than any memory"),
    "large": ("{'descr': '<f8', 'fortran_order': False, 'shape': (100000000000,)}", "the file ends after 0 of"),
    "objects": ("{'descr': '|O', 'fortran_order': False, 'shape': (3,)}", "objects"),
    "twice": ("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}", "repeated key"),
    "code": ("{'descr': '<f4', 'fortran_order': False, 'shape': (exit(),)}", "a length is missing"),
    "complex": ("{'descr': '<c8', 'fortran_order': False, 'shape': (3,)}", "'<c8'"),
    "records": ("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,)}", "fields"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_headers(gpuimg, tmp_path, name):
    text, reason = HOSTILE[name]
    (tmp_path / "bad.npy").write_bytes(header(text))
    for args, stdin, shown in ((("reduce", "sum", "bad.npy"), b"", "bad.npy"),
                               (("scan", "sum", "-", "-o", "out.npy"), header(text), "standard input")):
        result = gpuimg(*args, stdin=stdin)
        assert result.code == 1 and result.out == b"" and reason in result.err, result
        assert result.err.startswith(f"gpuimg: {shown}: ") and result.err.count("\n") == 1
    assert not (tmp_path / "out.npy").exists()


def test_cut_files_and_trailing_bytes(gpuimg, save, tmp_path):
    save("a.npy", np.arange(50, dtype="f4"))
    whole = (tmp_path / "a.npy").read_bytes()
    for data in (b"", whole[:5], whole[:11], whole[:60], whole[:128], whole[:-1], whole + b"x"):
        (tmp_path / "b.npy").write_bytes(data)
        for args, stdin in ((("b.npy",), b""), (("-",), data)):
            result = gpuimg("reduce", "sum", *args, stdin=stdin)
            assert result.code == 1 and result.out == b"" and "gpuimg: " in result.err, result


def test_usage(gpuimg, save):
    save("a.npy", np.ones((2, 2), "f4"))
    for args, reason in (
            (("matmul", "a.npy", "-o", "c.npy"), "two arrays"), (("matmul", "a.npy", "a.npy"), "no output"),
            (("matmul", "-", "-", "-o", "c.npy"), "cannot be both"), (("reduce",), "no operation"),
            (("reduce", "sum"), "one array or image"), (("reduce", "avg", "a.npy"), "not 'avg'"),
            (("reduce", "sum", "a.npy", "a.npy"), "one array or image"), (("scan", "mean", "a.npy", "-o", "b"), "not 'mean'"),
            (("scan", "sum", "a.npy"), "no output"), (("reduce", "sum", "a.npy", "-o", "b"), "not for reduce"),
            (("scan", "sum", "a.npy", "-o", "b", "--algo", "tiled8"), "must be auto, kogge-stone"),
            (("gray", "--algo", "cub", "a", "b"), "not for gray"), (("reduce", "--exclusive", "sum", "a.npy"), "for scan"),
            (("matmul", "--device", "cpu", "--algo", "tiled16", "a.npy", "a.npy", "-o", "c.npy"),
             "tiled16 of matmul is not for cpu, which has auto, naive, fast"),
            (("reduce", "--device", "cpu", "--algo", "shuffle", "sum", "a.npy"), "not for cpu, which has auto"),
            (("scan", "--device", "gpu", "sum", "a.npy", "-o", "b"), "auto, cpu, cuda, cuda:N, cuda:N,M,... or cuda:all")):
        assert reason in gpuimg.refused(*args).err


def test_the_device(gpuimg, save):
    save("a.npy", np.ones((2, 2), "f4"))
    result = gpuimg.ok("reduce", "-v", "sum", "a.npy", "--device", "cpu")
    assert result.text == "4\n" and "device cpu (" in result.err and "as asked for" in result.err
    assert "device cpu" in gpuimg.ok("matmul", "-v", "a.npy", "a.npy", "-o", "c.npy", "--algo", "naive").err
    assert gpuimg("reduce", "sum", "a.npy", env={"GPUIMG_DEVICE": "gpu"}).code == 2
    hidden = {"CUDA_VISIBLE_DEVICES": ""}
    assert gpuimg("reduce", "sum", "a.npy", "--device", "cuda", env=hidden).code == 3
    result = gpuimg("matmul", "a.npy", "a.npy", "-o", "d.npy", "--algo", "cublas", env=hidden)
    assert result.code == 3 and "needs a GPU" in result.err


def test_arrays_that_are_no_matrices(gpuimg, save, tmp_path):
    save("f4.npy", np.ones((2, 3), "f4"))
    save("f8.npy", np.ones((3, 2)))
    save("flat.npy", np.ones(3, "f4"))
    for other, reason in (("f8.npy", "f8.npy: float64"), ("flat.npy", "flat.npy: 1 dimension: a matrix has two"),
                          ("f4.npy", "f4.npy, f4.npy: A is 2 x 3, B is 2 x 3")):
        result = gpuimg("matmul", "f4.npy", other, "-o", "c.npy")
        assert result.code == 1 and reason in result.err, result
    # A product with more elements than there can be, of factors without any.
    save("tall.npy", np.zeros((2**40, 0), "f4"))
    save("wide.npy", np.zeros((0, 2**40), "f4"))
    result = gpuimg("matmul", "tall.npy", "wide.npy", "-o", "c.npy")
    assert result.code == 1 and result.err.startswith("gpuimg: c.npy: "), result
    assert not (tmp_path / "c.npy").exists()


def test_results_past_64_bits_and_of_nothing(gpuimg, save, tmp_path):
    save("big.npy", np.array([2**62, 2**62]))
    save("none.npy", np.zeros((0, 4), "f8"))
    for args, reason in ((("reduce", "sum", "big.npy"), "does not fit 64 bits"),
                         (("scan", "sum", "big.npy", "-o", "c.npy"), "up to index 1 does not fit"),
                         (("reduce", "mean", "none.npy"), "no mean"), (("reduce", "min", "none.npy"), "no min")):
        result = gpuimg(*args)
        assert result.code == 1 and result.out == b"" and reason in result.err, result
    assert gpuimg.ok("reduce", "sum", "none.npy").text == "0\n"
    assert gpuimg.ok("reduce", "prod", "none.npy").text == "1\n"
    gpuimg.ok("scan", "sum", "none.npy", "-o", "c.npy")
    assert np.load(tmp_path / "c.npy").shape == (0, 4)
    assert gpuimg.ok("scan", "sum", "--exclusive", "big.npy", "-o", "d.npy").err == ""
    assert np.load(tmp_path / "d.npy").tolist() == [0, 2**62]


def test_outputs_are_complete_or_absent(gpuimg, save, tmp_path):
    save("a.npy", np.arange(10))
    (tmp_path / "old.npy").write_bytes(b"old")
    os.chmod(tmp_path / "old.npy", 0o640)
    result = gpuimg("scan", "sum", "a.npy", "-o", "old.npy", "--no-clobber")
    assert result.code == 1 and result.err == "gpuimg: old.npy: exists already\n" and (tmp_path / "old.npy").read_bytes() == b"old"
    (tmp_path / "cut.npy").write_bytes(npy(np.arange(10))[:-1])
    assert gpuimg("scan", "sum", "cut.npy", "-o", "old.npy").code == 1
    assert (tmp_path / "old.npy").read_bytes() == b"old"
    gpuimg.ok("scan", "sum", "a.npy", "-o", "old.npy")
    assert np.load(tmp_path / "old.npy")[-1] == 45 and (tmp_path / "old.npy").stat().st_mode & 0o777 == 0o640
    gpuimg.ok("scan", "sum", "a.npy", "-o", "a.npy")  # in place
    assert np.load(tmp_path / "a.npy")[-1] == 45
    assert gpuimg("scan", "sum", "a.npy", "-o", "missing/b.npy").code == 1
    if os.path.exists("/dev/full"):
        assert gpuimg("scan", "sum", "a.npy", "-o", "/dev/full").code == 1
    assert sorted(os.listdir(tmp_path)) == ["a.npy", "cut.npy", "old.npy"]


def test_a_redirected_descriptor_is_no_file_that_exists(gpuimg, save, tmp_path):
    save("a.npy", np.arange(10))
    with open(tmp_path / "out.npy", "wb") as out:
        process = gpuimg.start("scan", "sum", "a.npy", "--no-clobber", "-o", "/dev/stdout", stdout=out)
        err = process.communicate(timeout=60)[1]
    assert process.returncode == 0, err
    assert np.load(tmp_path / "out.npy")[-1] == 45


def test_images(gpuimg, image, tmp_path):
    array = image("a.png", pixels(channels=4))
    for op, want in (("sum", array.sum((0, 1), dtype=np.int64)), ("min", array.min((0, 1))),
                     ("max", array.max((0, 1))), ("mean", array.mean((0, 1)))):
        lines = gpuimg.ok("reduce", op, "a.png").text.splitlines()
        assert [line.split()[0] for line in lines] == ["red", "green", "blue", "alpha"]
        assert [float(line.split()[1]) for line in lines] == [float(w) for w in want]
    gray = np.full((2, 3), 4, np.uint8)
    assert gpuimg.ok("reduce", "prod", "-", stdin=encoded(gray)).text == "gray 4096\n"
    assert gpuimg("reduce", "prod", "-", stdin=encoded(np.full((8, 8), 2, np.uint8))).code == 1
    assert gpuimg.refused("reduce", "--algo", "auto", "--codec", "gif", "sum", "a.png")
    assert gpuimg("reduce", "--max-pixels", "10", "sum", "a.png").code == 1
    (tmp_path / "notes.txt").write_text("nothing of that kind")
    assert "neither .npy nor PNG nor JPEG" in gpuimg("reduce", "sum", "notes.txt").err


def test_numbers_read_back(gpuimg, save):
    for value in (0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0.0, float("inf"), float("-inf"), 123456789.0):
        save("a.npy", np.array([value]))
        text = gpuimg.ok("reduce", "max", "a.npy").text
        assert float(text) == value and np.signbit(float(text)) == np.signbit(value)
    assert gpuimg.ok("reduce", "sum", "a.npy").text == "123456789\n"
    save("a.npy", np.array([0.1]))
    assert gpuimg.ok("reduce", "sum", "a.npy").text == "0.1\n"
    save("a.npy", np.array([np.nan]))
    assert gpuimg.ok("reduce", "sum", "a.npy").text == "nan\n"


def test_damage_of_standard_input_is_told_by_that_name(gpuimg, tmp_path):
    whole = io.BytesIO()
    Image.effect_noise((64, 64), 60).save(whole, "JPEG")
    result = gpuimg("reduce", "sum", "-", stdin=whole.getvalue()[:-20])
    assert result.code == 0 and result.err.startswith("gpuimg: standard input: warning: damaged JPEG"), result.err
