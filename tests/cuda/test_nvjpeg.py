"""JPEG decoded and encoded by nvJPEG: the program over the fake runtime and a library over libjpeg-turbo (fake_nvjpeg.c), which
decodes every sample one level brighter, so that it shows who decoded (env GPUIMG; GPUIMG_FAKE_NVJPEG: a folder with the library
in lib/, and one that lacks a function in lacking/)."""
import io
import os
import subprocess

import numpy as np
import pytest
from PIL import Image, ImageCms

PROGRAM = os.environ["GPUIMG"]
FOLDER = os.environ["GPUIMG_FAKE_NVJPEG"]
SIZES = [(1, 1), (7, 9), (64, 48), (131, 97), (17, 240)]


def smooth(width, height, channels=3, seed=1):
    rng = np.random.default_rng(seed)
    coarse = rng.integers(20, 230, (4, 5, channels), np.uint8)
    image = Image.fromarray(coarse.squeeze() if channels == 1 else coarse)
    return image.resize((width, height), Image.BICUBIC)


def jpeg(path, image, **options):
    image.save(path, "JPEG", **{"quality": 92, **options})


@pytest.fixture(autouse=True)
def images(tmp_path):
    (tmp_path / "in").mkdir()
    for i, size in enumerate(SIZES):
        jpeg(tmp_path / f"in/c{i}.jpg", smooth(*size, seed=i), subsampling=i % 3)
        jpeg(tmp_path / f"in/g{i}.jpg", smooth(*size, channels=1, seed=i))


def run(tmp_path, *args, library="lib", timeout=120, **env):
    env = {**{k: v for k, v in os.environ.items() if not k.startswith(("GPUIMG_", "FAKE_"))}, "OMP_NUM_THREADS": "1",
           "LD_LIBRARY_PATH": os.path.join(FOLDER, library), "FAKE_NVJPEG_LOG": str(tmp_path / "calls"),
           "GPUIMG_SANDBOX": "off", **env}  # in it the log could not be written
    calls = tmp_path / "calls"
    calls.unlink(missing_ok=True)
    done = subprocess.run([PROGRAM, *args], cwd=tmp_path, env=env, capture_output=True, timeout=timeout)
    names = calls.read_text().split() if calls.exists() else []
    return done.returncode, done.stderr.decode(), names


def pixels(path):
    return np.asarray(Image.open(path)).astype(int)


def files(directory):
    return {path.name: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def brighter(image):
    return np.minimum(image + 1, 255)


def made_and_freed(names):
    for made, freed in (("DecoderStateCreate", "JpegStateDestroy"), ("JpegStreamCreate", "JpegStreamDestroy"),
                        ("BufferPinnedCreate", "BufferPinnedDestroy"), ("BufferDeviceCreate", "BufferDeviceDestroy"),
                        ("DecodeParamsCreate", "DecodeParamsDestroy"), ("DecoderCreate", "DecoderDestroy"),
                        ("EncoderStateCreate", "EncoderStateDestroy"), ("EncoderParamsCreate", "EncoderParamsDestroy")):
        assert names.count(made) == names.count(freed), names
    return True


def idle(names):
    return not {"DecodeJpegDevice", "EncodeYUV", "EncodeImage"} & set(names)


NVJPEG = ("--device", "cuda", "--codec", "nvjpeg")


@pytest.mark.parametrize("engines", ["0", "2"])
@pytest.mark.parametrize("jobs", ["-j1", "-j3"])
@pytest.mark.parametrize("args", [("gray",), ("gray", "--no-jpeg-luma"), ("blur", "--radius", "2")])
def test_decoded_pixels(tmp_path, engines, jobs, args):
    """PNG out, so that the CPU encodes."""
    code, said, _ = run(tmp_path, "run", "threshold level=0", "-q", "--device", "cpu", "--format", "png", "in", "none")
    assert code == 0, said
    code, said, names = run(tmp_path, *args, *NVJPEG, jobs, "--format", "png", "in", "gpu", FAKE_NVJPEG_ENGINES=engines)
    assert (code, said) == (0, "gpuimg: 10 done\n")
    assert names.count("DecodeJpegDevice") == 10 and "EncodeYUV" not in names
    assert engines != "0" or "engine" not in names
    assert made_and_freed(names)
    # What the CPU makes of pixels that are one level brighter: of its own decoded images, saved as PNG.
    luma = args == ("gray",)
    os.makedirs(tmp_path / "bright")
    for name in files(tmp_path / "in"):
        image = Image.open(tmp_path / "in" / name)
        if luma:
            image.draft("L", image.size)
            image = image.convert("L")
        Image.fromarray(brighter(np.asarray(image).astype(int)).astype(np.uint8)).save(
            tmp_path / "bright" / name.replace("jpg", "png"))
    run(tmp_path, *args, "-q", "--device", "cpu", "bright", "cpu")
    for name in files(tmp_path / "gpu"):
        assert np.array_equal(pixels(tmp_path / "gpu" / name), pixels(tmp_path / "cpu" / name)), name


@pytest.mark.parametrize("options", [(), ("--quality", "55"), ("--optimize",), ("--subsampling", "444"),
                                     ("--subsampling", "422")])
@pytest.mark.parametrize("stage", ["gray", "blur radius=1"])
def test_encoded_files(tmp_path, options, stage):
    """The library encodes what the CPU's libjpeg-turbo would, of the same pixels: those of PNGs."""
    os.makedirs(tmp_path / "png")
    for i, size in enumerate(SIZES):
        smooth(*size, seed=i).save(tmp_path / f"png/{i}.png")
    common = ("run", stage, "--format", "jpg", *options, "png")
    assert run(tmp_path, *common, "cpu", "-q", "--device", "cpu")[:2] == (0, "")
    code, said, names = run(tmp_path, *common, "gpu", "-q", *NVJPEG)
    assert (code, said) == (0, "") and made_and_freed(names)
    assert names.count("EncodeYUV" if stage == "gray" else "EncodeImage") == len(SIZES)
    assert files(tmp_path / "gpu") == files(tmp_path / "cpu")


@pytest.mark.parametrize("pipeline", ["gray", "blur radius=3", "threshold otsu", "equalize", "gray | blur sigma=2 | equalize",
                                      "heat steps=2 inner=2 | gray | threshold otsu"])
def test_no_pixel_touches_the_host(tmp_path, pipeline):
    code, said, names = run(tmp_path, "run", pipeline, *NVJPEG, "-v", "-j2", "in", "out", "--stats-json", "s.json")
    assert code == 0 and "on the CPU" not in said, said
    assert names.count("EncodeYUV") + names.count("EncodeImage") == 10
    assert len(files(tmp_path / "out")) == 10
    for path in (tmp_path / "out").iterdir():
        assert Image.open(path).size == Image.open(tmp_path / "in" / path.name).size


def many(tmp_path, count=60):
    """More than is done before the first decoder of an engine is made."""
    for i in range(count):
        os.link(tmp_path / "in/c3.jpg", tmp_path / f"in/more{i}.jpg")
    return count + 10


@pytest.mark.parametrize("jobs", ["-j1", "-j4"])
def test_an_engine_takes_over(tmp_path, jobs):
    """Its decoders are made beside the others' work, two for each engine, and taken before those."""
    count = many(tmp_path)
    code, said, names = run(tmp_path, "blur", "--radius", "1", *NVJPEG, "-q", jobs, "--format", "png", "in", "out",
                            FAKE_NVJPEG_ENGINES="2", FAKE_NVJPEG_SLOW_MS="10")
    assert (code, said) == (0, "") and made_and_freed(names)
    assert names.count("DecodeJpegDevice") == count and 20 < names.count("engine") < count
    assert names.count("DecoderStateCreate") <= 4 + int(jobs[2:]) and names.count("CreateEx") == 1
    assert run(tmp_path, "blur", "--radius", "1", *NVJPEG, "-q", "--format", "png", "in", "one")[:2] == (0, "")
    assert files(tmp_path / "out") == files(tmp_path / "one")


def test_what_an_engine_refuses_goes_to_the_others(tmp_path):
    """A file with more luma samples across than it does, and one that nobody does."""
    broken = bytearray((tmp_path / "in/c3.jpg").read_bytes())
    scan = broken.index(b"\xff\xda") + 20
    broken[scan:scan + 40] = bytes(40)
    count = many(tmp_path)
    (tmp_path / "in/x.jpg").write_bytes(broken)  # the last
    code, said, names = run(tmp_path, "gray", *NVJPEG, "-v", "-j2", "--format", "png", "in", "out", FAKE_NVJPEG_ENGINES="2",
                            FAKE_NVJPEG_SLOW_MS="10")
    assert code == 0 and len(files(tmp_path / "out")) == count + 1 and "engine" in names
    assert [line for line in said.splitlines() if "decoded on the CPU" in line] in (
        [], ["gpuimg: in/x.jpg: decoded on the CPU: nvJPEG: decoding: a bad JPEG"]), said


def test_repeats_are_alike(tmp_path):
    for i in range(6):
        assert run(tmp_path, "run", "gray | blur radius=2", *NVJPEG, "-q", "-j4", "--slots", str(1 + i % 4), "in", f"{i}",
                   FAKE_NVJPEG_ENGINES=str(i % 2), FAKE_CUDA_START_MS=str(40 * (i % 3)))[:2] == (0, "")
        assert files(tmp_path / f"{i}") == files(tmp_path / "0")


def test_several_devices(tmp_path):
    code, said, names = run(tmp_path, "gray", "--codec", "nvjpeg", "--device", "cuda:all", "-q", "-j4", "in", "out",
                            FAKE_CUDA_DEVICES="2", FAKE_NVJPEG_ENGINES="1")
    assert (code, said) == (0, "") and made_and_freed(names) and names.count("CreateEx") == 2
    assert names.count("Destroy") == names.count("CreateEx")


# ---- what nvJPEG does not do ----------------------------------------------------------------------------------------

def odd_files(tmp_path):
    os.makedirs(tmp_path / "odd")
    image = smooth(90, 70)
    jpeg(tmp_path / "odd/progressive.jpg", image, progressive=True)
    exif = Image.Exif()
    exif[0x0112] = 6
    jpeg(tmp_path / "odd/turned.jpg", image, exif=exif)
    jpeg(tmp_path / "odd/cmyk.jpg", image.convert("CMYK"))
    whole = io.BytesIO()
    jpeg(whole, image)
    (tmp_path / "odd/cut.jpg").write_bytes(whole.getvalue()[:-20])
    image.save(tmp_path / "odd/image.png")
    return {"progressive.jpg": "it is progressive", "turned.jpg": "its pixels are turned", "cut.jpg": "it is damaged",
            "cmyk.jpg": "its colours are not YCbCr", "image.png": "it is no JPEG"}


def test_done_on_the_cpu_with_the_reason(tmp_path):
    reasons = odd_files(tmp_path)
    code, said, names = run(tmp_path, "gray", "--codec", "nvjpeg", "-v", "--device", "cuda", "--format", "png", "odd", "gpu")
    assert code == 0, said
    for name, reason in reasons.items():
        assert f"odd/{name}: decoded on the CPU: {reason}" in said, said
        assert f"odd/{name}: encoded on the CPU: it is no JPEG" in said
    assert "DecodeJpegDevice" not in names and "damaged JPEG, decoded as far as it goes" in said
    run(tmp_path, "gray", "-q", "--device", "cpu", "--format", "png", "odd", "cpu")
    assert files(tmp_path / "gpu") == files(tmp_path / "cpu")
    assert "CPU" not in run(tmp_path, "gray", *NVJPEG, "odd", "quiet")[1]


def test_strict_leaves_decoding_to_the_cpu(tmp_path):
    code, said, names = run(tmp_path, "gray", *NVJPEG, "--strict", "-v", "in", "out")
    assert code == 0 and said.count("decoded on the CPU: all damage is to be found") == 10 and "DecodeJpegDevice" not in names
    assert names.count("EncodeYUV") == 10


def test_in_place_leaves_decoding_to_the_cpu(tmp_path):
    code, said, names = run(tmp_path, "gray", *NVJPEG, "-v", "in/c2.jpg", "in/c2.jpg")
    assert code == 0 and "all damage is to be found" in said and "DecodeJpegDevice" not in names and "EncodeYUV" in names


def test_orientation_that_is_not_applied(tmp_path):
    odd_files(tmp_path)
    code, said, names = run(tmp_path, "gray", *NVJPEG, "--no-auto-orient", "odd/turned.jpg", "out.jpg")
    assert (code, said) == (0, "") and "DecodeJpegDevice" in names and "EncodeYUV" in names
    image = Image.open(tmp_path / "out.jpg")
    assert image.getexif()[0x0112] == 6 and image.size == (90, 70) and image.mode == "L"
    data = (tmp_path / "out.jpg").read_bytes()
    assert data.index(b"JFIF") < data.index(b"Exif")


def segments(path):
    """Code and body of each segment before the tables."""
    data, at, found = path.read_bytes(), 2, []
    while data[at + 1] & 0xF0 == 0xE0:
        size = int.from_bytes(data[at + 2:at + 4], "big")
        found.append((data[at + 1], data[at + 4:at + 2 + size]))
        at += 2 + size
    return found


def with_metadata(path, orientation):
    exif = Image.Exif()
    exif[0x010E], exif[0x0112] = "a picture", orientation
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    jpeg(path, smooth(90, 70), exif=exif, dpi=(300, 300), icc_profile=profile)
    data = path.read_bytes()
    xmp = b"http://ns.adobe.com/xap/1.0/\0<x:xmpmeta xmlns:x='adobe:ns:meta/'/>"
    path.write_bytes(data[:20] + b"\xff\xe1" + (len(xmp) + 2).to_bytes(2, "big") + xmp + data[20:])


@pytest.mark.parametrize("options", [(), ("--strip",), ("--no-auto-orient",), ("--no-auto-orient", "--strip")])
@pytest.mark.parametrize("stage", ["gray", "blur radius=1"])
@pytest.mark.parametrize("orientation", [1, 6])
def test_metadata(tmp_path, options, stage, orientation):
    """What the device encodes has the head of what the CPU does."""
    with_metadata(tmp_path / "with.jpg", orientation)
    said = run(tmp_path, "run", stage, *options, "--device", "cpu", "-v", "with.jpg", "cpu.jpg")[1]
    code, also, names = run(tmp_path, "run", stage, *options, *NVJPEG, "-v", "with.jpg", "gpu.jpg")
    assert code == 0 and "EncodeYUV" in names or "EncodeImage" in names
    assert ("DecodeJpegDevice" in names) == (orientation == 1 or "--no-auto-orient" in options)
    assert segments(tmp_path / "gpu.jpg") == segments(tmp_path / "cpu.jpg")
    kinds = [body[:4] for _, body in segments(tmp_path / "gpu.jpg")]
    assert kinds[0] == b"JFIF" and (b"Exif" in kinds and b"http" in kinds) == ("--strip" not in options)
    assert (b"ICC_" in kinds) == (stage != "gray" and "--strip" not in options)
    assert abs(pixels(tmp_path / "gpu.jpg") - pixels(tmp_path / "cpu.jpg")).max() <= 6
    dropped = [line for line in said.splitlines() if "profile" in line]
    assert dropped == [line for line in also.splitlines() if "profile" in line]


def test_sixteen_bits(tmp_path):
    Image.fromarray(np.arange(70 * 90, dtype=np.uint16).reshape(70, 90) * 10).save(tmp_path / "wide.png")
    code, said, names = run(tmp_path, "blur", "--radius", "1", *NVJPEG, "-v", "wide.png", "wide.jpg")
    assert code == 0 and "wide.png: encoded on the CPU: its samples of 16 bits are rounded first" in said and idle(names)
    code, said, names = run(tmp_path, "blur", "--radius", "1", *NVJPEG, "-v", "--depth", "16", "in/c3.jpg", "deep.png")
    assert code == 0 and "in/c3.jpg: decoded on the CPU: its samples are brought to 16 bits" in said and idle(names)
    run(tmp_path, "blur", "--radius", "1", "--device", "cpu", "--depth", "16", "in/c3.jpg", "cpu.png")
    assert (tmp_path / "deep.png").read_bytes() == (tmp_path / "cpu.png").read_bytes()


def test_in_the_sandbox(tmp_path):
    code, said, _ = run(tmp_path, "gray", *NVJPEG, "-v", "--sandbox", "require", "in", "out", FAKE_NVJPEG_LOG="")
    if code == 3 and "requires a sandbox" in said:
        pytest.skip("no sandbox here")
    assert code == 0 and "on the CPU" not in said and len(files(tmp_path / "out")) == 10, said
    run(tmp_path, "gray", *NVJPEG, "-q", "in", "free")
    assert files(tmp_path / "out") == files(tmp_path / "free")


def test_damage_within_the_data(tmp_path):
    """nvJPEG refuses it; the CPU's decoder warns."""
    whole = bytearray((tmp_path / "in/c3.jpg").read_bytes())
    scan = whole.index(b"\xff\xda") + 20
    whole[scan:scan + 40] = bytes(40)
    (tmp_path / "in/c3.jpg").write_bytes(whole)
    code, said, _ = run(tmp_path, "gray", "-v", *NVJPEG, "in/c3.jpg", "out.png")
    cpu = run(tmp_path, "gray", "--device", "cpu", "in/c3.jpg", "cpu.png")
    if "damaged" in cpu[1]:
        assert "decoded on the CPU: nvJPEG: decoding: a bad JPEG" in said and "damaged JPEG, decoded as far" in said
    assert code == cpu[0] == 0 and files(tmp_path)["out.png"] == files(tmp_path)["cpu.png"]


def test_limits_hold(tmp_path):
    code, said, names = run(tmp_path, "gray", *NVJPEG, "--max-pixels", "5000", "in", "out")
    assert code == 1 and "more than the limit of 5000" in said and names.count("DecodeJpegDevice") == 8


def test_bands_leave_both_to_the_cpu(tmp_path):
    code, said, names = run(tmp_path, "gray", *NVJPEG, "-v", "in/c3.jpg", "out.jpg", GPUIMG_BAND_ROWS="16")
    assert code == 0 and said.count("on the CPU: it is worked on in bands") == 2 and idle(names)


def test_histograms(tmp_path):
    code, said, names = run(tmp_path, "run", "hist", *NVJPEG, "-o", "gpu.csv", "in")
    assert (code, said) == (0, "gpuimg: 10 done\n") and names.count("DecodeJpegDevice") == 10 and "EncodeYUV" not in names
    code, said, names = run(tmp_path, "hist", *NVJPEG, "-v", "-o", "gpu.html", "in")
    assert code == 0 and said.count("the report shows a picture of it") == 10 and idle(names)


# ---- where it is not there, or fails --------------------------------------------------------------------------------

@pytest.mark.parametrize("library,reason", [("none", "nvJPEG was not found (libfake_nvjpeg.so, of the CUDA Toolkit)"),
                                            ("lacking", "libfake_nvjpeg.so has no nvjpegEncodeYUV")])
def test_without_the_library(tmp_path, library, reason):
    code, said, _ = run(tmp_path, "gray", *NVJPEG, "in", "out", library=library)
    assert code == 3 and f"codec nvjpeg: {reason}" in said and not (tmp_path / "out").exists()
    code, said, names = run(tmp_path, "gray", "--device", "cuda", "--codec", "auto-fast", "-v", "in", "out", library=library)
    assert code == 0 and said.count(f"decoded and encoded on the CPU: {reason}") == 10 and names == []
    run(tmp_path, "gray", "--device", "cpu", "-q", "in", "cpu")
    assert files(tmp_path / "out") == files(tmp_path / "cpu")


def test_without_a_gpu(tmp_path):
    code, said, _ = run(tmp_path, "gray", "--codec", "nvjpeg", "--device", "cpu", "in", "out")
    assert code == 3 and "nvJPEG works on CUDA devices, and this run is on 'cpu'" in said and not (tmp_path / "out").exists()
    code, said, _ = run(tmp_path, "gray", "--codec", "nvjpeg", "in", "out", FAKE_CUDA_DEVICES="0")
    assert code == 3 and not (tmp_path / "out").exists(), said
    code, said, names = run(tmp_path, "gray", "--codec", "auto-fast", "--device", "cpu", "-q", "in", "out")
    assert (code, said, names) == (0, "", [])


def test_auto_takes_a_gpu_for_it(tmp_path):
    code, said, names = run(tmp_path, "gray", "--codec", "nvjpeg", "-v", "in", "out")
    assert code == 0 and "device cuda" in said and names.count("EncodeYUV") == 10, said


def test_auto_never_uses_it(tmp_path):
    code, _, names = run(tmp_path, "gray", "--device", "cuda", "-q", "in", "out")
    assert code == 0 and names == []


def test_auto_fast_does_not_wait_for_the_device(tmp_path):
    """The first image is decoded while the device starts, as without, and further ones while the library does."""
    common = ("blur", "--radius", "1", "--device", "cuda", "--codec", "auto-fast", "-v", "-j1")
    code, said, names = run(tmp_path, *common, "in", "out", FAKE_CUDA_START_MS="300")
    starting = said.count("decoded on the CPU: the GPU is still starting")
    assert code == 0 and starting >= 1 and starting + names.count("DecodeJpegDevice") == 10
    assert names.count("EncodeImage") + names.count("EncodeYUV") == 10


@pytest.mark.parametrize("fail,decoder,encoder", [
    ("JpegStreamParse=3", "nvJPEG: decoding: a bad JPEG", None),
    ("DecoderJpegSupported=4", "a kind of JPEG that it does not do", None),
    ("DecodeParamsSetOutputFormat=2", "invalid parameter (code 2)", None), ("DecodeJpegHost=5", "out of device memory", None),
    ("DecodeJpegTransferToDevice=8", "internal error (code 8)", None),
    ("DecodeJpegDevice=6", "the device failed (code 6)", None), ("DecoderStateCreate=5", "making a decoder", None),
    ("BufferPinnedCreate=5", "making a decoder", None), ("BufferDeviceCreate=5", "making a decoder", None),
    ("JpegStreamCreate=5", "making a decoder", None), ("DecodeParamsCreate=2", "making a decoder", None),
    ("StateAttachPinnedBuffer=2", "making a decoder", None), ("StateAttachDeviceBuffer=2", "making a decoder", None),
    ("DecoderCreate=5", "starting: out of device memory", ""), ("CreateEx=7", "starting: not for this architecture", ""),
    ("EncodeYUV=4", None, "encoding: a kind of JPEG"), ("EncodeYUV=5", None, "out of device memory"),
    ("EncoderStateCreate=8", None, "making an encoder: internal error"),
    ("EncodeRetrieveBitstream=6", None, "the device failed"), ("EncoderParamsCreate=5", None, "out of device memory"),
    ("EncoderParamsSetQuality=99", None, "unknown failure (code 99)")])
def test_failing_calls(tmp_path, fail, decoder, encoder):
    """Whatever fails is done by the CPU, file by file."""
    for codec in ("nvjpeg", "auto-fast"):
        code, said, names = run(tmp_path, "run", "gray | blur radius=2", "--device", "cuda", "--codec", codec, "-v", "-j1", "in",
                                codec, FAKE_NVJPEG_FAIL=fail)
        assert code == 0 and "10 done" in said, said
        if decoder and codec == "nvjpeg":
            assert said.count("decoded on the CPU: nvJPEG: ") == 10 and decoder in said, said
        if encoder and codec == "nvjpeg":
            assert said.count("encoded on the CPU: ") == 10 and encoder in said, said
    run(tmp_path, "run", "gray | blur radius=2", "--device", "cpu", "-q", "in", "cpu")
    if decoder:
        assert files(tmp_path / "nvjpeg") == files(tmp_path / "cpu")
    for path in (tmp_path / "cpu").iterdir():
        difference = pixels(path) - pixels(tmp_path / "nvjpeg" / path.name)
        assert abs(difference).max() <= 6 and Image.open(path).size == Image.open(tmp_path / "nvjpeg" / path.name).size


@pytest.mark.parametrize("fail", ["GetHardwareDecoderInfo=9", "engine_state=5", "engine=6"])
def test_a_failing_engine_leaves_it_to_the_others(tmp_path, fail):
    count = many(tmp_path)
    code, said, names = run(tmp_path, "gray", *NVJPEG, "-v", "in", "out", FAKE_NVJPEG_ENGINES="1", FAKE_NVJPEG_FAIL=fail,
                            FAKE_NVJPEG_SLOW_MS="5")
    assert code == 0 and "on the CPU" not in said, said
    assert names.count("DecodeJpegDevice") - names.count("engine") == count
    assert ("engine" in names) == (fail == "engine=6")


@pytest.mark.parametrize("fault", ["device-memory", "device-memory@2", "device-memory@3", "device-memory@2-2", "device-memory@4-4",
                                   "host-memory", "lost", "lost@2", "lost@3-4"])
@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_a_failing_device(tmp_path, fault, device):
    """Every file comes out or is named, and what comes out is whole; under auto all do."""
    code, said, _ = run(tmp_path, "run", "gray | blur radius=2", "--device", device, "--codec", "nvjpeg", "-j2", "in", "out",
                        GPUIMG_CUDA_FAULT=fault)
    out = files(tmp_path / "out")
    assert code in ((0,) if device == "auto" else (0, 1, 3)), said
    assert len(out) == 10 or code != 0
    run(tmp_path, "run", "gray | blur radius=2", "--device", "cpu", "-q", "in", "cpu")
    for name in out:
        assert abs(pixels(tmp_path / "out" / name) - pixels(tmp_path / "cpu" / name)).max() <= 6


def test_one_bad_file_never_stops_the_others(tmp_path):
    (tmp_path / "in/c1.jpg").write_bytes(b"\xff\xd8\xff\xe0junk")
    code, said, names = run(tmp_path, "gray", *NVJPEG, "in", "out")
    assert code == 1 and "in/c1.jpg: " in said and "9 done, 1 failed" in said and names.count("EncodeYUV") == 9


def test_info_tells(tmp_path):
    done = subprocess.run([PROGRAM, "info"], env={**os.environ, "LD_LIBRARY_PATH": os.path.join(FOLDER, "lib")},
                          capture_output=True, text=True)
    assert "nvJPEG    13.0.1 (libfake_nvjpeg.so)" in done.stdout, done.stdout
