"""Options: their forms, their ranges, and what is said about a bad one."""
import shutil
import subprocess

import numpy as np
import pytest
from PIL import Image

from conftest import decoded, gray601


@pytest.mark.parametrize("args", [
    ("--weights", "709", "a.png", "b.png"), ("--weights=709", "a.png", "b.png"), ("a.png", "--weights", "709", "b.png"),
    ("a.png", "b.png", "--weights=709"), ("-qj1", "--weights=709", "a.png", "b.png"),
    ("-j", "1", "--weights=709", "--", "a.png", "b.png"),
])
def test_forms(gpuimg, image, tmp_path, args):
    a = image("a.png").astype(np.int64)
    gpuimg.ok("gray", *args)
    expected = (6966 * a[..., 0] + 23436 * a[..., 1] + 2366 * a[..., 2] + 16384) >> 15
    assert np.array_equal(np.array(Image.open(tmp_path / "b.png")), expected)


def test_two_dashes_end_the_options(gpuimg, image, tmp_path):
    image("-v.png")
    image("--strict")
    gpuimg.ok("gray", "--", "-v.png", "-o.png")
    gpuimg.ok("gray", "--", "--strict", "out.png")
    image("-dash.png")
    image("--dash.png")
    for name in ("-dash.png", "--dash.png"):
        assert f"{name} begins with -: write ./{name}" in gpuimg.refused("gray", name, "out.png").err
    assert "unknown option '-x'" in gpuimg.refused("gray", "-x.png", "out.png").err
    assert (tmp_path / "-o.png").exists() and (tmp_path / "out.png").exists()


@pytest.mark.parametrize("args,accepted", [
    (("--quality", "0"), "an integer from 1 to 100"), (("--quality", "101"), "an integer from 1 to 100"),
    (("--quality", "9x"), "an integer from 1 to 100"), (("--quality="), "an integer from 1 to 100"),
    (("--codec", "png"), "auto, zlib, stb, auto-fast or nvjpeg"), (("--subsampling", "4:2:0"), "420, 422 or 444"),
    (("--png-reduce", "yes"), "auto, on or off"), (("--png-reduce",), "auto, on or off"),
    (("--png-level", "10"), "an integer from 0 to 9"), (("--png-level", "-1"), "an integer from 0 to 9"),
    (("-j", "0"), "an integer from 1 to"), (("--streams", "0"), "an integer from 1 to"),
    (("--max-pixels", "0"), "an integer from 1 to"), (("--max-pixels", "1T"), "with k, M or G behind it"),
    (("--background", "pink"), "#rrggbb"),
    (("--background", "#12345"), "#rrggbb"), (("--device", "gpu"), "auto, cpu, cuda, cuda:N, cuda:N,M,... or cuda:all"),
    (("--device", "cuda:-1"), "auto, cpu, cuda, cuda:N, cuda:N,M,... or cuda:all"), (("--format", "gif"), "png, jpg"),
    (("--weights", "602"), "601, 709 or linear"), (("--weights",), "601, 709 or linear"),
])
def test_bad_values_name_what_is_accepted(gpuimg, image, args, accepted):
    image("a.png")
    args = (args,) if isinstance(args, str) else args
    assert accepted in gpuimg.refused("gray", "a.png", "b.png", *args).err


@pytest.mark.parametrize("args,accepted", [
    (("gray", "--format", "txt", "a.png", "b"), "must be png, jpg or jpeg, not 'txt'"),
    (("hist", "--format", "jpg", "a.png"), "must be txt, json"),
    (("run", "gray", "--format", "csv", "a.png", "b"), "must be png, jpg or jpeg for commands that write images"),
    (("run", "gray | hist", "--format", "jpg", "a.png"), "for hist and pipelines that end in it"),
    (("run", "gray", "--format", "gif", "a.png", "b"), "png, jpg or jpeg for commands that write images, or txt, json"),
    (("run", "gray", "--format", "png", "--format", "csv", "a.png", "b"), "must be png, jpg or jpeg"),
    (("info", "--format", "png"), "option --format is not for info"),
])
def test_formats_are_those_of_the_command(gpuimg, image, args, accepted):
    image("a.png")
    assert accepted in gpuimg.refused(*args).err


def test_the_last_format_counts_in_a_pipeline(gpuimg, image):
    image("a.png")
    assert gpuimg.ok("run", "hist", "--format", "jpg", "--format", "csv", "a.png").text.startswith("file,")
    image_out = gpuimg.ok("run", "gray", "--format", "txt", "--format", "jpg", "a.png", "-").out
    assert decoded(image_out).format == "JPEG"


def test_a_levels_range(gpuimg, image):
    image("a.png")
    for level in ("-1", "65536", "otsus", "1.5", ""):
        assert "65535" in gpuimg.refused("threshold", f"--level={level}", "a.png", "b.png").err


def test_a_level_beyond_the_depth_is_refused_after_the_header(gpuimg, image, tmp_path):
    image("a.png")
    result = gpuimg("threshold", "--level", "256", "a.png", "b.png")
    assert result.code in (1, 2) and "255" in result.err and not (tmp_path / "b.png").exists()


@pytest.mark.parametrize("typed,meant", [
    ("--weight", "--weights"), ("--wieghts", "--weights"), ("--qual", "--quality"), ("--recursiv", "--recursive"),
    ("--progresive", "--progressive"), ("--subsample", "--subsampling"), ("--skip-exist", "--skip-existing"), ("--no-cloober", "--no-clobber"),
])
def test_no_abbreviations_but_suggestions(gpuimg, image, typed, meant):
    image("a.png")
    assert f"did you mean '{meant}'?" in gpuimg.refused("gray", typed, "a.png", "b.png").err


def test_options_that_do_not_apply(gpuimg, image):
    image("a.png")
    assert "--total" in gpuimg.refused("gray", "--total", "a.png", "b.png").err
    assert "--quality" in gpuimg.refused("hist", "--quality", "3", "a.png").err
    assert "--output" in gpuimg.refused("run", "gray", "-o", "b.png", "a.png", "b.png").err
    assert "--quality" in gpuimg.refused("run", "gray | hist", "--quality", "3", "a.png").err
    assert "--png-reduce" in gpuimg.refused("run", "gray | hist", "--png-reduce", "on", "a.png").err
    assert "--progressive" in gpuimg.refused("hist", "--progressive", "a.png").err
    assert "pipeline" in gpuimg.refused("run", "--level", "3", "threshold", "a.png", "b.png").err
    assert "takes no value" in gpuimg.refused("gray", "--strict=1", "a.png", "b.png").err


def test_exclusive_options(gpuimg, image):
    image("a.png")
    assert "exclude" in gpuimg.refused("gray", "--skip-existing", "--no-clobber", "a.png", "b.png").err


@pytest.fixture
def missing(gpuimg):
    """The libraries that the program was built without."""
    text = gpuimg.ok("info").text
    return [name for name in ("ISA-L", "zlib", "libjpeg-turbo") if f"{name}: without it" in text]


@pytest.mark.parametrize("codec,library", [("auto", None), ("stb", None), ("zlib", "zlib")])
def test_codecs_agree(gpuimg, image, tmp_path, missing, codec, library):
    a = image("a.png")
    if library in missing:
        assert "zlib1g-dev" in gpuimg.refused("gray", "--codec", codec, "a.png", "b.png").err
        assert "zlib1g-dev" in gpuimg.refused("hist", "--codec", codec, "a.png").err
        return
    gpuimg.ok("gray", "--codec", codec, "a.png", "b.png")
    assert np.array_equal(np.array(Image.open(tmp_path / "b.png")), gray601(a))
    assert gpuimg.ok("hist", "--codec", codec, "--format=json", "a.png").text == \
        gpuimg.ok("hist", "--format=json", "a.png").text


@pytest.mark.parametrize("option", ["--progressive", "--optimize", "--subsampling=420", "--subsampling=444"])
def test_what_libjpeg_turbo_alone_does(gpuimg, image, tmp_path, missing, option):
    image("a.png")
    name = option.split("=")[0]
    for output in ("b.jpg", "b.png"):  # contradictions are told whatever is written
        told = gpuimg.refused("blur", "--codec", "stb", option, "a.png", output).err
        assert f"{name} needs libjpeg-turbo" in told
    if "libjpeg-turbo" in missing:
        assert "libjpeg-dev" in gpuimg.refused("blur", option, "a.png", "b.jpg").err
        assert f"{name} needs" in gpuimg.refused("run", "blur", option, "a.png", "b.jpg").err
        return
    gpuimg.ok("blur", option, "a.png", "b.jpg")
    assert decoded((tmp_path / "b.jpg").read_bytes()).format == "JPEG"
    # As with --quality, what a format knows nothing of is not asked of it.
    gpuimg.ok("blur", option, "a.png", "b.png")
    gpuimg.ok("blur", "--png-reduce=on", option, "a.png", "c.jpg")


@pytest.mark.parametrize("reduce", ["auto", "on", "off"])
def test_reduced_pngs_hold_the_same_pixels(gpuimg, image, tmp_path, reduce):
    a = image("a.png")
    gpuimg.ok("run", "gray | threshold", "--png-reduce", reduce, "a.png", "b.png")
    made = Image.open(tmp_path / "b.png").convert("L")
    assert np.array_equal(np.array(made), np.where(gray601(a) > 128, 255, 0))


def test_quality_and_png_level(gpuimg, image, tmp_path):
    rows = np.tile(np.arange(200, dtype=np.uint8), (200, 1))
    image("a.png", np.stack([rows, rows.T, rows], -1))
    for option, name in (("--quality=5", "low.jpg"), ("--quality=95", "high.jpg"), ("--png-level=0", "0.png"),
                         ("--png-level=9", "9.png")):
        gpuimg.ok("gray", option, "a.png", name)
    size = {name: (tmp_path / name).stat().st_size for name in ("low.jpg", "high.jpg", "0.png", "9.png")}
    assert size["low.jpg"] < size["high.jpg"] and size["9.png"] <= size["0.png"]
    assert np.array_equal(np.array(Image.open(tmp_path / "0.png")), np.array(Image.open(tmp_path / "9.png")))


@pytest.mark.parametrize("typed,rgb", [
    (None, (255, 255, 255)), ("white", (255, 255, 255)), ("black", (0, 0, 0)), ("#f00", (255, 0, 0)),
    ("#0000ff", (0, 0, 255)), ("10,200,30", (10, 200, 30)),
])
def test_alpha_into_jpeg_lies_on_the_background(gpuimg, image, typed, rgb):
    image("clear.png", np.zeros((16, 16, 4), np.uint8))
    args = () if typed is None else ("--background", typed)
    result = gpuimg.ok("threshold", "-v", *args, "--format", "jpg", "clear.png", "-")
    picture = decoded(result.out)
    assert picture.format == "JPEG"
    assert np.abs(np.array(picture.convert("RGB"))[8, 8].astype(int) - rgb).max() <= 6
    assert any("clear.png" in line and "alpha" in line for line in result.err.splitlines()), result


def test_alpha_into_jpeg_is_quiet_without_v(gpuimg, image):
    image("clear.png", np.zeros((16, 16, 4), np.uint8))
    assert gpuimg.ok("threshold", "clear.png", "b.jpg").err == ""


def test_letter_case_is_that_of_ascii_in_every_locale(gpuimg, image, tmp_path):
    made = shutil.which("localedef") and subprocess.run(
        ["localedef", "-i", "tr_TR", "-f", "UTF-8", str(tmp_path / "tr_TR.UTF-8")], capture_output=True).returncode == 0
    if not made:
        pytest.skip("the Turkish locale cannot be made here")
    image("a.png")
    turkish = {"LOCPATH": str(tmp_path), "LC_ALL": "tr_TR.UTF-8"}
    gpuimg.ok("gray", "--background", "WHITE", "a.png", "b.JPG", env=turkish)
    assert decoded((tmp_path / "b.JPG").read_bytes()).format == "JPEG"


@pytest.mark.parametrize("stage,word,option", [("threshold", "otsu", "--level otsu"), ("blur", "3", "--radius 3"),
                                               ("gray", "709", "--weights 709")])
def test_a_bare_option_is_hinted_at(gpuimg, image, stage, word, option):
    image("in.png")
    assert f"did you mean {option}?" in gpuimg.refused(stage, word, "in.png", "out.png").err
    assert "did you mean" not in gpuimg.refused(stage, "nonesuch", "in.png", "out.png").err
    image(word + ".png")
    assert "did you mean" not in gpuimg.refused(stage, word + ".png", "in.png", "out.png").err
