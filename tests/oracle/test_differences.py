"""Odd files of all kinds by our readers and by libpng and libjpeg-turbo: the verdicts agree, but for what
tests/fuzz/png_differences.h and jpeg_differences.h explain. Those who judge are the fuzz targets of that name."""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "corpus"))
import jpeg_oddities  # noqa: E402
import png_oddities  # noqa: E402

OPTIONS = {"fuzz_png_libpng": b"\0", "fuzz_jpeg_turbo": b""}  # what stands before the file
MAKERS = {"fuzz_png_libpng": png_oddities, "fuzz_jpeg_turbo": jpeg_oddities}


@pytest.mark.skipif("GPUIMG_FUZZ_TARGETS" not in os.environ, reason="GPUIMG_FUZZ_TARGETS names no folder")
@pytest.mark.parametrize("target", OPTIONS)
def test_verdicts_agree(tmp_path, target):
    count = 0
    for count, (name, data, *_) in enumerate(MAKERS[target].oddities(), 1):
        (tmp_path / name).write_bytes(OPTIONS[target] + data)
    program = pathlib.Path(os.environ["GPUIMG_FUZZ_TARGETS"]) / target
    run = subprocess.run([program, tmp_path], capture_output=True, text=True, errors="replace", timeout=600)
    assert run.returncode == 0 and run.stdout == f"replayed {count} files\n", run.stdout + run.stderr
