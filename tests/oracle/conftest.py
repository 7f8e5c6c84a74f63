"""The `gpuimg` fixture and images that several tests share. GPUIMG names the program, GPUIMG_TEST_DEVICE the device."""

import os

import pytest

from oracle_images import colour_cube, write_png
from oracle_program import Gpuimg


@pytest.fixture
def gpuimg(tmp_path):
    if "GPUIMG" not in os.environ:
        pytest.fail("set GPUIMG to the program to test, e.g. GPUIMG=build/bin/gpuimg")
    return Gpuimg(tmp_path)


@pytest.fixture(scope="session")
def cube():
    return colour_cube()


@pytest.fixture(scope="session")
def cube_png(cube, tmp_path_factory):
    return write_png(tmp_path_factory.mktemp("cube") / "cube.png", cube)
