"""Help is made from the tables: every command, every option, ranges and defaults; info and the version."""
import os
import re

import pytest

SOURCE = os.path.join(os.path.dirname(__file__), "..", "..", "src", "core", "stages.h")


def stage_table():
    """{stage: [options]} from the rows of src/core/stages.h."""
    with open(SOURCE) as file:
        text = file.read().replace("\\\n", " ")
    stages = {name: [] for name in re.findall(r"^\s+STAGE\([A-Z]+, ([a-z0-9]+),", text, re.M)}
    if not stages:
        stages = {name: [] for name in re.findall(r"\bSTAGE\((?:POINT|WINDOW|MEASURE), ([a-z0-9]+),", text)}
    for name in stages:
        body = re.search(rf"#define GI_OPTIONS_{name}\(OPTION\)(.*?)$", text, re.M).group(1)
        stages[name] = re.findall(r"OPTION\((?:\w+, )?(?:CHOICE|INTEGER|REAL|LEVEL), (\w+),", body)
    return stages


def flat(text):
    return " ".join(text.split())


def test_the_overview_names_every_command(gpuimg):
    result = gpuimg.ok("help")
    assert result.err == ""
    for name in list(stage_table()) + ["run", "matmul", "reduce", "scan", "bench", "info", "help"]:
        assert re.search(rf"^  {name} ", result.text, re.M)
    assert gpuimg.ok("--help").text == gpuimg.ok("-h").text == result.text
    assert len(result.text.splitlines()) <= 26 and "gpuimg gray in.png out.png" in result.text


def test_topics(gpuimg):
    (names,) = re.findall(r"'gpuimg help (\S+\|\S+)'", gpuimg.ok("help").text)
    assert names.split("|") == ["manifests", "status", "variables"]
    texts = [gpuimg.ok("help", name).text for name in names.split("|")]
    assert "{path, status, reason, output, bytes, ms, pipeline, sha256}" in flat(texts[0])
    assert re.findall(r"^  (\d+(?: or 143)?) +\S", texts[1], re.M) == ["0", "1", "2", "3", "130 or 143"]
    assert re.search(r"^  GPUIMG_DEVICE +where to compute", texts[2], re.M)
    assert max(len(line) for text in texts for line in text.splitlines()) <= 80
    err = gpuimg.refused("help", "manifest").err
    assert err.startswith("gpuimg: no command or topic is named 'manifest': did you mean 'manifests'?\n")


@pytest.mark.parametrize("name,options", sorted(stage_table().items()))
def test_every_stage_option_appears(gpuimg, name, options):
    text = gpuimg.ok("help", name).text
    assert options
    for option in options:
        assert re.search(rf"^  --{option} .", text, re.M), text
    assert text.count("(default ") >= len(options)


@pytest.mark.parametrize("name", list(stage_table()) + ["run", "matmul", "reduce", "scan", "bench", "info", "help"])
def test_a_commands_help(gpuimg, name):
    result = gpuimg.ok("help", name)
    text = result.text
    assert result.err == "" and text.startswith(f"Usage: gpuimg {name}")
    assert len(re.findall(r"^  gpuimg ", text.split("\nExamples:\n")[1], re.M)) == 2
    assert gpuimg.ok(name, "--help").text == text
    assert max(map(len, text.splitlines())) <= 80
    # In short: its own options as they stand there, the names of all, and where the rest is.
    brief = gpuimg.ok(name, "-h").text
    assert brief.startswith(text.split("\n\n")[0]) and brief.endswith(f"\nAll of it: 'gpuimg help {name}'.\n")
    assert len(brief.splitlines()) <= 40 and max(map(len, brief.splitlines())) <= 80
    options = re.findall(r"^  (?:-\w, )?(--[a-z0-9-]+)", text, re.M)
    assert all(re.search(rf"{option}\b", brief) for option in options) and "\n\n\n" not in brief
    assert all(f"  --{option}" in brief for option in stage_table().get(name, []))


def test_ranges_and_defaults(gpuimg):
    text = flat(gpuimg.ok("help", "gray").text)
    assert "JPEG quality: an integer from 1 to 100 (default 90)" in text
    assert "auto, zlib, stb, auto-fast or nvjpeg (default auto)" in text and "420, 422 or 444 (default 420)" in text
    assert "--png-reduce WHEN" in text and "--progressive JPEGs" in text
    assert "(default 1G)" in text and "601|709|linear" in text and "(default 601)" in text
    assert "from 0 to 65535, or otsu (default half of the range" in flat(gpuimg.ok("help", "threshold").text)


def test_formats_are_those_of_the_command(gpuimg):
    gray, hist, run = (flat(gpuimg.ok("help", name).text) for name in ("gray", "hist", "run"))
    for text in (gray, run):
        assert "--format FORMAT format of the images, whatever OUT is named: png, jpg or jpeg" in text
    assert "--format FORMAT format of the report, whatever its file is named: txt, json" in hist
    assert "png, jpg or jpeg; or format of the report, whatever its file is named: txt, json" in run
    assert [text.count("--format FORMAT") for text in (gray, hist, run)] == [1, 1, 1]
    assert "txt, json" not in gray and "or jpeg" not in hist and "png, jpg" not in hist


def test_what_help_says_of_manifests_and_depth(gpuimg):
    for name in ("gray", "hist", "run"):
        text = flat(gpuimg.ok("help", name).text)
        assert "bytes, ms, pipeline ('gpuimg help manifests')" in text and "sha256}" not in text
        assert "unless --depth 8" in text and "read as 8 bits" not in text
    for name in ("matmul", "reduce", "scan"):
        options = flat(gpuimg.ok("help", name).text.split("\nOptions:\n")[1])
        for option in ("--device DEVICE", "--sandbox WHEN", "--verbose"):
            assert "image" not in options.split(option)[1].split(" --")[0]


@pytest.mark.parametrize("columns,width", [("60", 60), ("80", 80), ("95", 95), ("300", 100)])
def test_help_wraps(gpuimg, columns, width):
    lines = gpuimg.ok("help", "gray", env={"COLUMNS": columns}).text.splitlines()
    assert max(map(len, lines)) <= width


def test_suggestions(gpuimg):
    for args in (("grey", "a", "b"), ("help", "grey"), ("gra", "a", "b")):
        assert "did you mean 'gray'?" in gpuimg.refused(*args).err


def test_version(gpuimg):
    assert re.fullmatch(r"gpuimg \d+\.\d+\.\d+\n", gpuimg.ok("--version").text)
    assert gpuimg.ok("gray", "--version").text == gpuimg.ok("--version").text


def test_info(gpuimg):
    text = gpuimg.ok("info").text
    for name in ("gpuimg", "compiler", "build", "codecs", "CPU", "  features", "  SIMD", "  cores", "OpenMP", "CUDA"):
        assert re.search(rf"^{name} +\S", text, re.M), text
    assert {len(re.match(r" *\S+ +", line).group()) for line in text.splitlines() if line[:12].strip()} == {12}
    assert max(len(line) for line in text.splitlines() if " " in line[12:]) <= 80
    # Each library, built in or not; what is longer than a line is on the next ones.
    libraries = text[text.index("codecs"):text.index("CPU")]
    libraries = re.sub(r"\n {12}(?!\S+ \d|ISA-L:|zlib:|libjpeg-turbo:)", " ", libraries)
    for name, package in (("ISA-L", "libisal-dev"), ("zlib", "zlib1g-dev"), ("libjpeg-turbo", "libjpeg-dev")):
        built = re.search(rf"^(codecs|       ) +{name} \d+\.\d\S* \(", libraries, re.M)
        missing = re.search(rf"^(missing|       ) +{name}: without it .* \(install {package} and", libraries, re.M)
        assert bool(built) != bool(missing), text
    assert re.search(r"^(codecs|       ) +stb_image \d", libraries, re.M)
    # With CUDA, either devices or the reason why there are none.
    if "not built" not in text:
        assert re.search(r"^  (devices|cuda:0) +\S", text, re.M)
