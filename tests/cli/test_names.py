"""Names are literal bytes; lists of names."""
import os

import pytest

ODD = ["a:b.png", "100%.png", "%s%n.png", "x[0].png", "two words.png", " lead.png", "café.png", "日本.png", "a*?.png",
       "back\\slash.png", "q'\".png", "line\nbreak.png", "caf\udce9.png", "dots..png", "#1.png", "a=b.png", "$HOME.png"]


@pytest.mark.parametrize("name", ODD)
def test_odd_names(gpuimg, image, tmp_path, name):
    image("in/" + name)
    gpuimg.ok("gray", "in/" + name, name)
    gpuimg.ok("gray", "in", "out")
    for path in (name, "out/" + name):
        assert os.path.isfile(os.path.join(os.fsencode(tmp_path), os.fsencode(path)))


def test_a_file_named_dash(gpuimg, image, tmp_path):
    image("-")
    gpuimg.ok("gray", "./-", "out.png")
    assert (tmp_path / "out.png").exists()


def test_a_very_long_name(gpuimg, image, tmp_path):
    name = "n" * 251 + ".png"
    image(name)
    (tmp_path / "out").mkdir()
    gpuimg.ok("gray", name, "out/" + name)
    assert [p.name for p in (tmp_path / "out").iterdir()] == [name]


@pytest.mark.parametrize("null", [False, True])
def test_files_from(gpuimg, image, tmp_path, null):
    names = ["a.png", "two words.png", "-dash.png", "caf\udce9.png"] + (["line\nbreak.png"] if null else [])
    for name in names:
        image(name)
    data = b"".join(os.fsencode(n) + (b"\0" if null else b"\n") for n in names)
    (tmp_path / "list").write_bytes(data)
    option = ["-0"] if null else []
    gpuimg.ok("gray", *option, "--files-from", "list", "out")
    assert sorted(os.listdir(os.fsencode(tmp_path / "out"))) == sorted(map(os.fsencode, names))
    gpuimg.ok("gray", *option, "--files-from=-", "out2", stdin=data)
    assert len(list((tmp_path / "out2").iterdir())) == len(names)


def test_files_from_without_a_last_newline(gpuimg, image, tmp_path):
    image("a.png")
    image("b.png")
    gpuimg.ok("gray", "--files-from", "-", "out", stdin=b"a.png\nb.png")
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_files_from_adds_to_the_operands(gpuimg, image, tmp_path):
    for name in ("a.png", "b.png"):
        image(name)
    gpuimg.ok("gray", "a.png", "out", "--files-from", "-", stdin=b"b.png\n")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["a.png", "b.png"]


@pytest.mark.parametrize("words", (("gray", "out"), ("hist",), ("info",)), ids=lambda words: words[0])
def test_a_second_list_is_refused(gpuimg, image, tmp_path, words):
    for name in ("a", "b"):
        image(f"{name}.png")
        (tmp_path / name).write_text(f"{name}.png\n")
    result = gpuimg(*words, "--files-from", "a", "--files-from", "b")
    assert result.code == 2 and "--files-from is given twice" in result.err and not (tmp_path / "out").exists()


def test_a_missing_list(gpuimg):
    result = gpuimg("gray", "--files-from", "nix", "out")
    assert result.code == 1 and "nix" in result.err


def test_a_list_that_is_none_is_named(gpuimg, image):
    image("a.png")
    for name, stdin in (("a.png", b""), ("-", b"a.png\0")):
        err = gpuimg.refused("gray", "--files-from", name, "out", stdin=stdin).err
        assert f"gpuimg: the list {'standard input' if name == '-' else name} has a NUL byte, where one name a line" in err


def test_a_list_may_name_missing_files(gpuimg, image, tmp_path):
    image("a.png")
    result = gpuimg("gray", "--files-from", "-", "out", stdin=b"a.png\nnix.png\n")
    assert result.code == 1 and "nix.png: " in result.err and (tmp_path / "out/a.png").exists()


def test_hist_takes_lists(gpuimg, image):
    image("a.png")
    image("b.png")
    text = gpuimg.ok("hist", "--files-from", "-", stdin=b"b.png\na.png\n").text
    assert text.index("b.png: ") < text.index("a.png: ")


def test_standard_input_serves_once(gpuimg):
    gpuimg.refused("gray", "--files-from", "-", "-", "out")
    gpuimg.refused("gray", "-", "-", "out")
