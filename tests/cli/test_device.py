"""Choosing the device; its messages; exit 3 before any work where it is not usable."""
import os

import pytest

# No machine has so many.
ABSENT = "cuda:99"


@pytest.mark.parametrize("args,env", [(("--device", ABSENT), {}), (("--device=" + ABSENT,), {}),
                                      ((), {"GPUIMG_DEVICE": ABSENT})])
@pytest.mark.parametrize("command", ["gray", "hist"])
def test_3_before_any_work(gpuimg, image, tmp_path, args, env, command):
    image("a.png")
    image("b.png")
    out = ("new/out",) if command == "gray" else ("-o", "r.json")
    result = gpuimg(command, *args, "a.png", "b.png", *out, env=env)
    assert result.code == 3 and result.out == b"" and result.err.startswith(f"gpuimg: device {ABSENT}: "), result
    assert len(result.err.splitlines()) == 1 and sorted(os.listdir(tmp_path)) == ["a.png", "b.png"]


def test_cuda_works_or_says_why_not(gpuimg, image):
    image("a.png")
    result = gpuimg("gray", "-v", "--device", "cuda", "a.png", "b.png")
    assert result.code in (0, 3), result
    assert ("device cuda:0 (" if result.code == 0 else "device cuda: ") in result.err


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "cuda:-1", "CPU", "cpu ", "cuda:1:2", "cuda:0,0", "cuda:0,",
                                    "cuda:all,0"])
def test_bad_names(gpuimg, image, device):
    image("a.png")
    known = "auto, cpu, cuda, cuda:N, cuda:N,M,... or cuda:all"
    assert known in gpuimg.refused("gray", "--device", device, "a.png", "b.png").err
    err = gpuimg.refused("gray", "a.png", "b.png", env={"GPUIMG_DEVICE": device}).err
    assert "GPUIMG_DEVICE" in err and known in err


def test_all_gpus_or_why_there_is_none(gpuimg, image):
    for name in "abc":
        image(f"in/{name}.png")
    result = gpuimg("gray", "-v", "--device", "cuda:all", "in", "out")
    assert result.code in (0, 3), result
    assert ("device cuda:0 (" if result.code == 0 else "device cuda:all: ") in result.err
    assert gpuimg("gray", "--device", "cuda:0,99", "in", "out").code == 3


def test_the_option_outranks_the_variable(gpuimg, image):
    image("a.png")
    result = gpuimg.ok("gray", "-v", "--device", "cpu", "a.png", "b.png", env={"GPUIMG_DEVICE": ABSENT})
    assert "device cpu (" in result.err
    gpuimg.ok("gray", "a.png", "b.png", env={"GPUIMG_DEVICE": ""})
    assert "device cpu (" in gpuimg.ok("gray", "-v", "a.png", "b.png", env={"GPUIMG_DEVICE": "cpu"}).err


def test_v_says_which_device_and_why(gpuimg, image):
    image("a.png")
    line = gpuimg.ok("gray", "-v", "a.png", "b.png").err.splitlines()[0]
    assert line.startswith("gpuimg: device cpu (") and len(line.split("): ", 1)[1]) > 10
    assert gpuimg.ok("gray", "a.png", "b.png").err == ""


def test_usage_comes_before_the_device(gpuimg, image):
    image("a.png")
    gpuimg.refused("gray", "--device", ABSENT, "--quality", "0", "a.png", "b.png")
    gpuimg.refused("gray", "--device", ABSENT, "a.png", "a.png", "b.png")


@pytest.mark.parametrize("name,value,part", [("GPUIMG_SIMD", "sse", "portable, avx2 or avx512"),
                                             ("GPUIMG_SIMD", "AVX2", "portable, avx2 or avx512"),
                                             ("GPUIMG_BAND_ROWS", "0", "a number of rows"),
                                             ("GPUIMG_BAND_ROWS", "-1", "a number of rows"),
                                             ("GPUIMG_BAND_ROWS", "7x", "a number of rows")])
def test_variables_for_tests_are_not_ignored(gpuimg, image, name, value, part):
    image("a.png")
    err = gpuimg.refused("gray", "a.png", "b.png", env={name: value}).err
    assert name in err and part in err
    gpuimg.ok("gray", "a.png", "b.png", env={name: ""})


def test_levels_that_the_processor_may_lack(gpuimg, image):
    image("a.png")
    whole = gpuimg.ok("gray", "a.png", "-").out
    for level in ("portable", "avx2", "avx512"):
        assert gpuimg.ok("gray", "a.png", "-", env={"GPUIMG_SIMD": level}).out == whole
