"""What is installed and packaged, from the build that GPUIMG_BUILD names.

GPUIMG_CMAKE, GPUIMG_CPACK, GPUIMG_CC: the tools that built it. GPUIMG_SOURCE: the project's folder."""
import os
import pathlib
import subprocess

import pytest

BUILD = os.environ["GPUIMG_BUILD"]
SOURCE = pathlib.Path(os.environ["GPUIMG_SOURCE"])
CMAKE, CPACK, CC = (os.environ[f"GPUIMG_{name}"] for name in ("CMAKE", "CPACK", "CC"))
VERSION = subprocess.run([os.environ["GPUIMG"], "--version"], capture_output=True, text=True,
                         check=True).stdout.split()[1]
PROGRAM = SOURCE / "tests/api/use_library.c"
PICTURE = SOURCE / "samples/landscape.png"


def run(*args, **options):
    """Its standard output; fails with all it said."""
    ran = subprocess.run([str(arg) for arg in args], capture_output=True, text=True, check=False, **options)
    assert ran.returncode == 0, f"{args}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def needed(program):
    """The libraries that the program is to be loaded with."""
    lines = run("objdump", "-p", program).splitlines()
    return [line.split()[1] for line in lines if line.split()[:1] == ["NEEDED"]]


def codec_libraries():
    """Of those that are optional, the ones that the program says it was built with, as they are linked."""
    told = run(os.environ["GPUIMG"], "info").split("\nmissing")[0]
    names = {"ISA-L": "libisal", "zlib": "libz", "libjpeg-turbo": "libjpeg"}
    return {library for name, library in names.items() if f" {name} " in told}


def files_below(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()}


def pages():
    """The man pages that were made."""
    return {path.name for path in pathlib.Path(os.environ["GPUIMG_SHARE"], "man/man1").glob("*.1")}


@pytest.fixture(scope="session")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("work")
