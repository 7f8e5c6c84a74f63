"""The command line over the corpus: exit status, reasons, and pixels against the manifest's references.

Pixels are seen through stages whose results numpy knows: threshold shows each channel's samples against a level, gray
mixes them, hist counts them. References are of 8 bits; test_depth.py has those of 16. Whole folders are done in one run each, so that the test stays quick under sanitizers.
"""
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

MAKE = pathlib.Path(__file__).parent.parent / "corpus" / "make_corpus.py"
LEVELS = (40, 127, 210)
CODECS = ("auto", "stb")
SINGLES = 5  # files of each kind that are run alone


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpus")
    subprocess.run([sys.executable, MAKE, folder], check=True)
    return folder


@pytest.fixture(scope="session")
def manifest(corpus):
    return json.loads((corpus / "manifest.json").read_text())


def gpuimg(*arguments):
    command = [os.environ["GPUIMG"], *map(str, arguments), "--device", "cpu"]
    return subprocess.run(command, capture_output=True, timeout=300)


def pixels_of(path):
    image = Image.open(path)
    pixels = np.array(image.convert({"1": "L", "P": "RGB"}.get(image.mode, image.mode)))  # masks have fewer bits
    return pixels[..., None] if pixels.ndim == 2 else pixels


def gray_of(pixels):
    """DESIGN section 3: Rec. 601 in 15-bit fixed point; alpha is kept."""
    if pixels.shape[2] < 3:
        return pixels
    r, g, b = (pixels[..., c].astype(np.int64) for c in range(3))
    gray = (9798 * r + 19235 * g + 3735 * b + 16384) >> 15
    return np.concatenate([gray[..., None], pixels[..., 3:]], -1)


def threshold_of(pixels, level):
    colours = 1 if pixels.shape[2] < 3 else 3
    out = np.where(pixels > level, 255, 0)
    out[..., colours:] = pixels[..., colours:]
    return out


def messages_by_file(run):
    """The text of the messages about each file of the corpus."""
    found = {}
    for line in run.stderr.decode(errors="replace").splitlines():
        _, name, *reason = line.split(": ", 2)  # the summary at the end has no reason
        found.setdefault(pathlib.PurePath(name).name, []).extend(reason)
    return {name: " | ".join(reasons) for name, reasons in found.items()}


def as_decoded_by(codec, manifest):
    """The manifest as it is for stb alone, which must refuse what only libjpeg-turbo decodes, or for all there is."""
    if codec != "stb" and has_turbo():
        return manifest
    refused = {"expect": "fail", "reference": None, "tolerance": None}
    return [entry | refused | {"reason": entry["needs"]} if "needs" in entry else entry for entry in manifest]


def has_turbo():
    about = subprocess.run([os.environ["GPUIMG"], "info"], capture_output=True, text=True, check=True).stdout
    return " libjpeg-turbo " in about.split("\nmissing")[0]


def output_of(folder, entry):
    return folder / (pathlib.PurePath(entry["file"]).stem + ".png")


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("strict", (False, True))
def test_every_file_has_its_outcome(corpus, manifest, tmp_path, strict, codec):
    out = tmp_path / "out"
    run = gpuimg("gray", "--format", "png", "--codec", codec, *["--strict"] * strict, corpus, out)
    assert run.returncode == 1, run.stderr
    said = messages_by_file(run)
    for entry in as_decoded_by(codec, manifest):
        done = entry["expect"] == "ok" or (entry["expect"] == "warn" and not strict)
        assert output_of(out, entry).exists() == done, (entry, said.get(entry["file"]))
        if entry["expect"] == "ok":
            assert entry["file"] not in said, (entry, said[entry["file"]])
        else:
            assert entry["reason"] in said[entry["file"]], (entry, said[entry["file"]])


@pytest.mark.parametrize("kind", ("ok", "warn", "fail"))
def test_exit_status_of_one_file(corpus, manifest, tmp_path, kind):
    entries = [entry for entry in as_decoded_by("auto", manifest) if entry["expect"] == kind]
    for entry in entries[:: len(entries) // SINGLES]:
        for strict in (False, True):
            out = tmp_path / "out.png"
            run = gpuimg("gray", *["--strict"] * strict, corpus / entry["file"], out)
            assert run.returncode == {"ok": 0, "warn": int(strict), "fail": 1}[kind], (entry, strict, run.stderr)
            assert out.exists() == (run.returncode == 0), entry
            out.unlink(missing_ok=True)


@pytest.mark.parametrize("codec", CODECS)
def test_gray_pixels(corpus, manifest, tmp_path, codec):
    gpuimg("gray", "--no-jpeg-luma", "--depth", 8, "--format", "png", "--codec", codec, corpus, tmp_path)
    for entry in as_decoded_by(codec, manifest):
        if not entry.get("reference"):
            continue
        expected = gray_of(np.load(corpus / entry["reference"]).astype(int))
        got = pixels_of(output_of(tmp_path, entry)).astype(int)
        assert got.shape == expected.shape, entry
        assert abs(got - expected).max() <= entry["tolerance"], entry


@pytest.mark.parametrize("level", LEVELS)
def test_every_channel_of_exact_files(corpus, manifest, tmp_path, level):
    gpuimg("threshold", "--level", level, "--depth", 8, "--format", "png", corpus, tmp_path)
    for entry in manifest:
        if not entry.get("reference") or entry["tolerance"]:
            continue
        expected = threshold_of(np.load(corpus / entry["reference"]), level)
        assert (pixels_of(output_of(tmp_path, entry)) == expected).all(), entry


@pytest.mark.parametrize("codec", CODECS)
def test_colour_means_of_jpegs(corpus, manifest, tmp_path, codec):
    report = tmp_path / "report.json"
    gpuimg("hist", "-o", report, "--codec", codec, corpus)
    images = json.loads(report.read_text())["images"]
    by_name = {pathlib.PurePath(image["file"]).name: image for image in images}
    for entry in as_decoded_by(codec, manifest):
        if not entry.get("tolerance"):
            continue
        reference = np.load(corpus / entry["reference"]).astype(float)
        image = by_name[entry["file"]]
        assert (image["height"], image["width"], len(image["channels"])) == reference.shape, entry
        for channel, expected in zip(image["channels"], reference.mean((0, 1))):
            assert abs(channel["mean"] - expected) <= max(1.5, entry["tolerance"] / 2), (entry, channel["name"])


def test_luma_plane(corpus, tmp_path):
    """The Y plane of a file is what Pillow's draft mode gives."""
    out = tmp_path / "out.png"
    for name in ("jpeg-420.jpg", "jpeg-444-progressive.jpg"):
        assert gpuimg("gray", corpus / name, out).returncode == 0
        image = Image.open(corpus / name)
        image.draft("L", image.size)
        assert abs(pixels_of(out)[..., 0].astype(int) - np.array(image)).max() <= 1


def test_unoriented_pixels_keep_the_tag(corpus, tmp_path):
    for name in ("exif-II-6.jpg", "png-exif7.png"):
        for extension in ("png", "jpg"):
            out = tmp_path / ("out." + extension)
            assert gpuimg("gray", "--no-auto-orient", corpus / name, out).returncode == 0
            image = Image.open(out)
            assert image.getexif().get(274) == int(name[-5]), (name, extension)
            assert image.size == Image.open(corpus / name).size
