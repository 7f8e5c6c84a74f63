"""cpack: the .deb, its installation into an empty root, its removal; the .tar.gz."""
import gzip
import os
import re
import shutil
import subprocess
import tarfile

import pytest

from conftest import BUILD, CPACK, PICTURE, VERSION, files_below, needed, pages, run

pytestmark = pytest.mark.skipif(not shutil.which("dpkg-shlibdeps"), reason="dpkg-dev is not installed")


@pytest.fixture(scope="module")
def packages(work):
    run(CPACK, "-B", work / "packages", cwd=BUILD)
    return work / "packages"


@pytest.fixture(scope="module")
def deb(packages):
    (deb,) = packages.glob("*.deb")
    return deb


@pytest.fixture(scope="module")
def unpacked(deb, work):
    run("dpkg-deb", "-x", deb, work / "unpacked")
    return work / "unpacked"


def field(deb, name):
    return run("dpkg-deb", "-f", deb, name).strip()


def test_its_fields(deb):
    architecture = run("dpkg", "--print-architecture").strip()
    assert deb.name == f"gpuimg_{VERSION}_{architecture}.deb"
    assert (field(deb, "Package"), field(deb, "Version"), field(deb, "Section")) == ("gpuimg", VERSION, "graphics")
    assert field(deb, "Architecture") == architecture and field(deb, "Maintainer").startswith("gpuimg authors")
    depends = field(deb, "Depends")
    assert "libc6 (>=" in depends and re.search(r"\blib(gomp1|omp5)", depends)
    # Each codec's library that the program is loaded with.
    packages = {"libisal": r"\blibisal2\b", "libz": r"\bzlib1g\b", "libjpeg": r"\blibjpeg(62-turbo|-turbo8|8)\b"}
    loaded = {name.split(".")[0] for name in needed(os.environ["GPUIMG"])}
    for library, package in packages.items():
        assert bool(re.search(package, depends)) == (library in loaded), depends
    summary, *rest = field(deb, "Description").splitlines()
    assert 20 <= len(summary) <= 80 and not summary.endswith(".") and len(rest) >= 3
    assert all(len(line) <= 80 for line in rest)


def test_its_files(unpacked):
    files = files_below(unpacked)
    assert {"usr/bin/gpuimg", "usr/include/gpuimg.h", "usr/share/doc/gpuimg/copyright",
            "usr/share/doc/gpuimg/changelog.gz", "usr/share/bash-completion/completions/gpuimg",
            "usr/share/zsh/vendor-completions/_gpuimg", "usr/share/fish/vendor_completions.d/gpuimg.fish"} <= files
    assert {name for name in files if "/man1/" in name} == {f"usr/share/man/man1/{page}.gz" for page in pages()}
    with gzip.open(unpacked / "usr/share/man/man1/gpuimg.1.gz", "rt") as page:
        assert page.read().count(".SH ") >= 6
    assert all(name.startswith("usr/") for name in files)
    for path in unpacked.rglob("*"):
        assert path.is_symlink() or (path.stat().st_mode & 0o777) in (0o644, 0o755), path
    assert "no symbols" in run("objdump", "-t", unpacked / "usr/bin/gpuimg")


def test_it_runs(unpacked, tmp_path):
    run(unpacked / "usr/bin/gpuimg", "gray", PICTURE, tmp_path / "gray.png")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can install a package")
def test_installed_and_purged(deb, tmp_path):
    root, tools, log = tmp_path / "root", tmp_path / "tools", tmp_path / "ldconfig.log"
    for folder in (root / "var/lib/dpkg/info", root / "var/lib/dpkg/updates", tools):
        folder.mkdir(parents=True)
    for name in ("status", "available"):
        (root / "var/lib/dpkg" / name).touch()
    # The package's scripts run outside of the root, which has no shell: they must not reach this system's ldconfig.
    (tools / "ldconfig").write_text(f"#!/bin/sh\necho \"$DPKG_MAINTSCRIPT_NAME\" >>'{log}'\n")
    (tools / "ldconfig").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    dpkg = ["dpkg", f"--root={root}", f"--log={tmp_path}/dpkg.log", "--force-depends,script-chrootless"]
    run(*dpkg, "-i", deb, env=environment)
    assert run("dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W", "-f", "${Status}", "gpuimg") == \
        "install ok installed"
    assert run(root / "usr/bin/gpuimg", "--version") == f"gpuimg {VERSION}\n"
    run(root / "usr/bin/gpuimg", "gray", PICTURE, tmp_path / "gray.png")
    assert "postinst" in log.read_text()
    run(*dpkg, "--purge", "gpuimg", env=environment)
    assert {path.name for path in root.iterdir()} <= {"var", "etc"}
    left = {name for name in files_below(root) if not name.startswith("var/lib/dpkg/")}
    assert left == set() and not list((root / "var/lib/dpkg/info").glob("gpuimg*"))


def test_the_archive(packages, tmp_path):
    (archive,) = packages.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path)
    (top,) = tmp_path.iterdir()
    assert top.name.startswith(f"gpuimg-{VERSION}-")
    assert run(top / "bin/gpuimg", "--version") == f"gpuimg {VERSION}\n"
    assert (top / "share/man/man1/gpuimg.1").exists() and (top / "share/doc/gpuimg/LICENSE").exists()
