"""Inputs and outputs as cp has them; formats; collisions; pipes."""
import os
import struct
import subprocess
import zlib

import numpy as np
import pytest

from conftest import decoded, encoded, gray601, listing, pixels


def kind(path):
    return decoded(path.read_bytes()).format


def test_one_in_and_a_file_out(gpuimg, image, tmp_path):
    a = image("a.png")
    gpuimg.ok("gray", "a.png", "b.png")
    assert np.array_equal(np.array(decoded((tmp_path / "b.png").read_bytes())), gray601(a))


def test_one_in_and_a_directory_out(gpuimg, image, tmp_path):
    image("a.png")
    (tmp_path / "out").mkdir()
    gpuimg.ok("gray", "a.png", "out")
    gpuimg.ok("gray", "a.png", "new/")
    assert (tmp_path / "out/a.png").exists() and (tmp_path / "new/a.png").exists()


def test_names_of_other_formats_are_warned_of(gpuimg, image, tmp_path):
    image("a.png")
    image("a.jpg")
    for name, written in (("x.tiff", "PNG"), ("x.GIF", "PNG"), ("x.webp", "JPEG")):
        result = gpuimg.ok("gray", "a.png" if written == "PNG" else "a.jpg", name)
        assert f"{name}: written as {written}; gpuimg writes PNG and JPEG\n" in result.err.replace("warning: ", "")
        assert kind(tmp_path / name) == written
    for quiet in (("a.png", "x"), ("a.png", "x.dat"), ("--format", "png", "a.png", "x.tif"), ("-q", "a.png", "x.tif")):
        assert gpuimg.ok("gray", *quiet).err == ""


def test_several_in_and_a_directory_out(gpuimg, image, tmp_path):
    image("x/a.png")
    image("y/b.png")
    (tmp_path / "out").mkdir()
    gpuimg.ok("gray", "x/a.png", "y/b.png", "out")
    assert sorted(os.listdir(tmp_path / "out")) == ["a.png", "b.png"]


def test_several_in_create_a_missing_directory(gpuimg, image, tmp_path):
    image("a.png")
    image("b.png")
    gpuimg.ok("gray", "a.png", "b.png", "new/deep")
    assert sorted(os.listdir(tmp_path / "new/deep")) == ["a.png", "b.png"]


@pytest.mark.parametrize("out", ["out.png", "out.JPG", "out.jpeg", "file"])
def test_several_in_and_a_file_out_is_refused(gpuimg, image, tmp_path, out):
    image("a.png")
    image("b.png")
    (tmp_path / "file").write_bytes(b"x")
    assert "must be a directory" in gpuimg.refused("gray", "a.png", "b.png", out).err


def test_a_directory_and_a_file_out_is_refused(gpuimg, image, tmp_path):
    image("in/a.png")
    (tmp_path / "file").write_bytes(b"x")
    gpuimg.refused("gray", "in", "file")
    gpuimg.refused("gray", "in", "out.png")
    gpuimg.refused("gray", "in", "-")


@pytest.mark.parametrize("out,expected", [("b.png", "PNG"), ("b.PNG", "PNG"), ("b.jpg", "JPEG"), ("b.JpEg", "JPEG"),
                                          ("b", "PNG"), ("b.dat", "PNG")])
def test_the_format_follows_the_extension(gpuimg, image, tmp_path, out, expected):
    image("a.png")
    gpuimg.ok("gray", "a.png", out)
    assert kind(tmp_path / out) == expected


def test_no_extension_follows_the_input(gpuimg, image, tmp_path):
    image("a.jpg")
    gpuimg.ok("gray", "a.jpg", "b")
    assert kind(tmp_path / "b") == "JPEG"


def test_the_input_is_sniffed_not_named(gpuimg, image, tmp_path):
    image("really_jpeg.png", kind="JPEG")
    gpuimg.ok("gray", "really_jpeg.png", "b")
    assert kind(tmp_path / "b") == "JPEG"


def test_format_beats_the_extension_of_a_named_out(gpuimg, image, tmp_path):
    image("a.png")
    gpuimg.ok("gray", "--format", "jpg", "a.png", "b.png")
    gpuimg.ok("gray", "--format", "png", "a.png", "c.jpg")
    assert kind(tmp_path / "b.png") == "JPEG" and kind(tmp_path / "c.jpg") == "PNG"


def test_format_in_a_directory(gpuimg, image, tmp_path):
    image("in/a.jpeg")
    image("in/b.png")
    image("in/c.dat")
    gpuimg.ok("gray", "--format", "jpg", "in", "out")
    assert sorted(os.listdir(tmp_path / "out")) == ["a.jpeg", "b.jpg", "c.dat.jpg"]
    assert {kind(p) for p in (tmp_path / "out").iterdir()} == {"JPEG"}


def test_a_jpeg_that_most_programs_do_not_open_is_told(gpuimg, image):
    image("wide.png", pixels(65501, 1))
    image("widest.png", pixels(65500, 1))
    assert "more than 65500 pixels a side" in gpuimg.ok("blur", "--radius", "0", "wide.png", "wide.jpg").err
    assert gpuimg.ok("blur", "--radius", "0", "widest.png", "widest.jpg").err == ""


def test_two_inputs_of_one_output_are_refused(gpuimg, image):
    image("in/a.png")
    image("in/a.jpg")
    image("other/a.png")
    err = gpuimg.refused("gray", "--format", "png", "in", "out").err
    assert "in/a.jpg" in err and "in/a.png" in err
    err = gpuimg.refused("gray", "in", "other", "out").err
    assert "in/a.png" in err and "other/a.png" in err


def test_names_that_differ_by_case_are_two_files(gpuimg, image, tmp_path):
    image("in/a.png")
    image("in/A.png")
    if len(os.listdir(tmp_path / "in")) == 1:
        pytest.skip("this file system folds case")
    gpuimg.ok("gray", "in", "out")
    assert sorted(os.listdir(tmp_path / "out")) == ["A.png", "a.png"]


def test_stdin_and_stdout(gpuimg, tmp_path):
    a = pixels()
    result = gpuimg.ok("gray", "-", "-", stdin=encoded(a))
    assert np.array_equal(np.array(decoded(result.out)), gray601(a)) and result.err == ""
    assert listing(tmp_path) == {}
    assert decoded(gpuimg.ok("gray", "-", "-", stdin=encoded(a, "JPEG")).out).format == "PNG"
    assert decoded(gpuimg.ok("gray", "--format=jpg", "-", "-", stdin=encoded(a)).out).format == "JPEG"
    gpuimg.ok("gray", "-", "b.png", stdin=encoded(a))
    assert kind(tmp_path / "b.png") == "PNG"


def test_pipes_chain(gpuimg):
    first = gpuimg.ok("gray", "-", "-", stdin=encoded(pixels()))
    second = gpuimg.ok("threshold", "-", "-", stdin=first.out)
    assert set(np.unique(np.array(decoded(second.out).convert("L")))) <= {0, 255}


def test_bad_stdin(gpuimg):
    for data in (b"", b"text", encoded(pixels())[:60]):
        result = gpuimg("gray", "-", "-", stdin=data)
        assert result.code == 1 and result.out == b"" and result.err.startswith("gpuimg: standard input: "), result


def test_standard_streams_have_one_name(gpuimg, image):
    """Whatever reads or writes them says what they are, not the dash by which they are named."""
    image("a.png")
    for command in (("gray", "-", "b.png"), ("hist", "-"), ("info", "-"), ("reduce", "sum", "-"), ("hist", "--merge", "-"),
                    ("scan", "sum", "-", "-o", "b.npy"), ("run", "--explain", "gray", "-"), ("run", "--pipeline-file", "-", "a.png", "b.png")):
        result = gpuimg(*command, stdin=b"nothing of the kind")
        assert result.code in (1, 2) and "gpuimg: standard input:" in result.err and " -:" not in result.err, result
    assert "the report standard input is given twice" in gpuimg.refused("hist", "--merge", "-", "-").err
    assert "standard input: line 1 is no line" in gpuimg.refused("gray", "--retry-failed", "-", stdin=b"text\n").err
    assert "standard output" in gpuimg.refused("bench", "add", "--json", "-", "--plot", "/dev/stdout.png", "--csv", "-").err


def png_head(width, height):
    """Signature, IHDR of RGBA and the head of an IDAT chunk without end."""
    ihdr = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n\0\0\0\r" + ihdr + struct.pack(">I", zlib.crc32(ihdr)) + b"\x7f\xff\xff\xffIDAT"


@pytest.mark.parametrize("command", (("gray", "-", "out.png"), ("info", "--quick", "-"), ("reduce", "sum", "-")), ids=lambda c: c[0])
@pytest.mark.parametrize("begin, megabytes, text", [
    (b"", 0.2, b"neither "),
    (b"\xff\xd8\xff", 66, b"more than an image"),
    (encoded(pixels()), 66, b"more than an image"),
    (png_head(30000, 30000), 0.2, b"30000x30000 is 900000000 pixels, more than the limit of 1000000 (--max-pixels)"),
    (png_head(0, 0), 0.2, b"damaged PNG: chunk IHDR at byte 8: width or height is 0"),
    (b"\xff\xd8\xff\xc0\0\x11\x08" + struct.pack(">HHB", 30000, 30000, 3), 0.2, b"more than the limit of 1000000"),
], ids=("none", "signature", "image", "large", "no-pixels", "large-jpeg"))  # fmt: skip
def test_a_stream_without_end(gpuimg, command, begin, megabytes, text):
    """Refused as soon as no image can need more; what was taken of it is counted."""
    process = gpuimg.start(*command, "--max-pixels=1M", stdin=subprocess.PIPE, bufsize=0)
    taken, more = 0, bytes(1 << 16)
    try:
        taken += process.stdin.write(begin + more)
        while taken < 1 << 30:
            taken += process.stdin.write(more)
    except BrokenPipeError:
        pass
    err = process.communicate(timeout=60)[1]
    assert process.returncode == 1 and text in err and err.count(b"\n") == 1
    assert taken <= megabytes * (1 << 20)


def test_a_stream_that_is_longer_than_its_image(gpuimg, tmp_path):
    data = encoded(pixels())
    gpuimg.ok("gray", "-", "out.png", stdin=data + bytes(8 << 20))
    assert kind(tmp_path / "out.png") == "PNG"


def test_an_image_is_not_sent_to_a_terminal(gpuimg, image):
    image("a.png")
    master, terminal = os.openpty()
    process = gpuimg.start("gray", "a.png", "-", stdout=terminal)
    err = process.communicate(timeout=60)[1]
    os.close(terminal)
    os.close(master)
    assert process.returncode == 2 and b"terminal" in err


def test_named_descriptors(gpuimg, image):
    image("a.png")
    assert decoded(gpuimg.ok("gray", "--format=png", "a.png", "/dev/stdout").out).mode == "L"
    assert decoded(gpuimg.ok("gray", "/dev/stdin", "-", stdin=encoded(pixels())).out).mode == "L"


@pytest.mark.parametrize("option", ["--no-clobber", "--skip-existing"])
def test_a_redirected_descriptor_is_no_file_that_exists(gpuimg, image, tmp_path, option):
    image("a.png")
    with open(tmp_path / "out.png", "wb") as out:
        process = gpuimg.start("gray", option, "--format=png", "a.png", "/dev/stdout", stdout=out)
        err = process.communicate(timeout=60)[1]
    assert process.returncode == 0, err
    assert decoded((tmp_path / "out.png").read_bytes()).mode == "L"
