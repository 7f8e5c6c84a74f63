"""cmake --install, and a stranger's program built from what it installed."""
import os
import shutil
import subprocess

import pytest

from conftest import BUILD, CC, CMAKE, PICTURE, PROGRAM, SOURCE, VERSION, codec_libraries, files_below, needed, pages, run


@pytest.fixture(scope="module")
def prefix(work):
    """Installed below a DESTDIR, then moved: nothing may depend on where it was built or installed."""
    run(CMAKE, "--install", BUILD, "--prefix", "/opt/some where", env={**os.environ, "DESTDIR": str(work / "stage")})
    assert {path.name for path in (work / "stage").iterdir()} == {"opt"}
    return (work / "stage/opt/some where").rename(work / "moved")


def libdir(prefix):
    return next(path.parent for path in prefix.rglob("libgpuimg.a"))


def pkg_config(prefix, *args):
    environment = {**os.environ, "PKG_CONFIG_PATH": str(libdir(prefix) / "pkgconfig")}
    return run("pkg-config", *args, "gpuimg", env=environment).split()


def use(program, prefix, output):
    """Runs the stranger's program."""
    run(program, VERSION, PICTURE, output, env={**os.environ, "LD_LIBRARY_PATH": str(libdir(prefix))})


def test_what_is_installed(prefix):
    share = {"doc/gpuimg/LICENSE", "doc/gpuimg/README.md", "bash-completion/completions/gpuimg",
             "zsh/site-functions/_gpuimg", "fish/vendor_completions.d/gpuimg.fish"}
    lib = {"libgpuimg.a", "libgpuimg.so", "libgpuimg.so.0", f"libgpuimg.so.{VERSION}", "pkgconfig/gpuimg.pc"}
    assert files_below(prefix / "share") == share | {f"man/man1/{page}" for page in pages()}
    found = {name for name in files_below(libdir(prefix)) if not name.startswith("cmake/gpuimg/")}
    assert found == lib
    assert files_below(prefix / "include") == {"gpuimg.h"} and files_below(prefix / "bin") == {"gpuimg"}
    assert (libdir(prefix) / "cmake/gpuimg/gpuimg-config.cmake").exists()
    assert os.readlink(libdir(prefix) / "libgpuimg.so") == "libgpuimg.so.0"


def test_no_text_names_the_places_it_was_made_in(prefix, work):
    texts = [path for path in prefix.rglob("*") if path.suffix in (".cmake", ".pc", ".h")]
    assert len(texts) >= 7
    for path in texts:
        text = path.read_text()
        assert str(SOURCE) not in text and str(BUILD) not in text and str(work) not in text and "some where" not in text


def test_the_program_runs(prefix, tmp_path):
    assert run(prefix / "bin/gpuimg", "--version") == f"gpuimg {VERSION}\n"
    run(prefix / "bin/gpuimg", "gray", PICTURE, tmp_path / "gray.png")
    assert "libgpuimg.so.0" not in needed(prefix / "bin/gpuimg")


def test_pkg_config_shared(prefix, tmp_path):
    assert pkg_config(prefix, "--modversion") == [VERSION]
    run(CC, PROGRAM, "-o", tmp_path / "use", *pkg_config(prefix, "--cflags", "--libs"))
    assert "libgpuimg.so.0" in needed(tmp_path / "use")
    use(tmp_path / "use", prefix, tmp_path / "out.png")


def test_pkg_config_static(prefix, tmp_path):
    """Only gpuimg is linked statically: the other libraries need not be there as archives."""
    flags = [flag for word in pkg_config(prefix, "--cflags", "--libs", "--static")
             for flag in (["-Wl,-Bstatic", word, "-Wl,-Bdynamic"] if word == "-lgpuimg" else [word])]
    run(CC, PROGRAM, "-o", tmp_path / "use", *flags)
    assert "libgpuimg.so.0" not in needed(tmp_path / "use")
    use(tmp_path / "use", prefix, tmp_path / "out.png")


def test_pkg_config_names_the_codecs(prefix):
    private = set(pkg_config(prefix, "--libs", "--static")) - set(pkg_config(prefix, "--libs"))
    wanted = {f"-l{library[3:]}" for library in codec_libraries()}
    assert private & {"-lisal", "-lz", "-ljpeg"} == wanted


def test_pkg_config_all_static(prefix, tmp_path):
    words = pkg_config(prefix, "--cflags", "--libs", "--static")
    empty = tmp_path / "empty.c"
    empty.write_text("int main(void) { return 0; }\n")
    others = [word for word in words if word != "-lgpuimg"]
    if subprocess.run([CC, "-static", empty, "-o", tmp_path / "empty", *others], capture_output=True,
                      check=False).returncode:
        pytest.skip("the compiler has no static libraries")
    run(CC, "-static", PROGRAM, "-o", tmp_path / "use", *words)
    assert needed(tmp_path / "use") == []
    use(tmp_path / "use", prefix, tmp_path / "out.png")


def test_find_package_without_codecs(prefix, tmp_path):
    """Where libraries of the codecs are gone, gpuimg::static is refused with the name of one; the shared library is not."""
    if not codec_libraries():
        pytest.skip("built without any")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(use LANGUAGES C)\n"
        "set(CMAKE_FIND_LIBRARY_PREFIXES no)  # nothing is called that\n"
        "find_package(gpuimg REQUIRED COMPONENTS ${WANTED})\n")
    configure = [str(arg) for arg in (CMAKE, "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}",
                                      f"-DCMAKE_C_COMPILER={CC}")]
    run(*configure, "-DWANTED=shared")
    refused = subprocess.run([*configure, "-DWANTED=static"], capture_output=True, text=True, check=False)
    assert refused.returncode != 0 and any(f"needs {library}" in refused.stderr for library in codec_libraries())


def test_find_package(prefix, tmp_path):
    configure = [CMAKE, "-S", SOURCE / "tests/install/use", "-B", tmp_path, f"-DCMAKE_C_COMPILER={CC}",
                 f"-DSOURCE={PROGRAM}", f"-DCMAKE_PREFIX_PATH={prefix}"]
    run(*configure, f"-DWANTED_VERSION={VERSION}")
    run(CMAKE, "--build", tmp_path)
    assert "libgpuimg.so.0" in needed(tmp_path / "use_gpuimg")
    assert "libgpuimg.so.0" not in needed(tmp_path / "use_static")
    for name in ("use_gpuimg", "use_static"):
        use(tmp_path / name, prefix, tmp_path / "out.png")
    # Another minor version is another interface.
    major, minor, _ = VERSION.split(".")
    shutil.rmtree(tmp_path / "CMakeFiles")
    (tmp_path / "CMakeCache.txt").unlink()
    refused = subprocess.run([str(arg) for arg in (*configure, f"-DWANTED_VERSION={major}.{int(minor) + 1}")],
                             capture_output=True, text=True, check=False)
    assert refused.returncode != 0 and "gpuimg" in refused.stderr
