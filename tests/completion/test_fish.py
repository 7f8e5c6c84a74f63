"""fish: what `complete -C` offers."""
import subprocess

import pytest

from conftest import SHARE, needs

needs("fish")


@pytest.fixture(scope="module")
def offered(folder, tmp_path_factory):
    home = tmp_path_factory.mktemp("home")

    def offered(line):
        script = f"source {SHARE}/fish/vendor_completions.d/gpuimg.fish; complete -C $argv[1]"
        ran = subprocess.run(["fish", "--no-config", "-c", script, line], cwd=folder, capture_output=True, text=True,
                             check=True, timeout=60, env={"HOME": str(home), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
        assert ran.stderr == ""
        return [entry.split("\t")[0] for entry in ran.stdout.splitlines()]
    return offered


@pytest.mark.parametrize("line,words", [
    ("gpuimg thr", ["threshold"]), ("gpuimg help th", ["threshold"]), ("gpuimg help man", ["manifests"]),
    ("gpuimg hist --merge r", ["r.json"]), ("gpuimg hist --merge ", ["r.json", "subfolder/"]), ("gpuimg gray --wei", ["--weights"]),
    ("gpuimg gray --weights ", ["601", "709", "linear"]), ("gpuimg gray --weights=l", ["--weights=linear"]),
    ("gpuimg gray --format ", ["jpeg", "jpg", "png"]), ("gpuimg hist --format=c", ["--format=csv"]),
    ("gpuimg gray --device c", ["cpu", "cuda"]), ("gpuimg hist -o r", ["r.json"]), ("gpuimg gray a", ["a.png"]),
    ("gpuimg gray m", ["my photo.jpeg"]), ("gpuimg gray n", ["notes.txt"]), ("gpuimg gray -r su", ["subfolder/"]),
    ("gpuimg gray ", ["a.png", "B.JPG", "my photo.jpeg", "x:y.png", "subfolder/"]),
    ("gpuimg run thr", ["threshold"]), ("gpuimg run 'gray | thr", ["gray | threshold"]),
    ("gpuimg run 'gray | threshold l", ["gray | threshold level=", "gray | threshold level=otsu"]),
    ("gpuimg run \"gray weights=l", ["gray weights=linear"]), ("gpuimg run -v --format txt hi", ["hist"]),
    ("gpuimg run 'gray' a", ["a.png"]), ("gpuimg gray --quality ", []), ("gpuimg info a", ["a.png"]),
    ("gpuimg bench dif", ["diffusion"]), ("gpuimg bench --quick add dif", ["diffusion"]),
])
def test_a_line(offered, line, words):
    found = [word for word in offered(line) if not word.startswith("cuda:")]
    assert sorted(found) == sorted(words)


def test_commands_and_options(offered):
    assert "cuda:all" in offered("gpuimg gray --device ")
    assert {"gray", "threshold", "hist", "run", "info", "help"} <= set(offered("gpuimg "))
    options = offered("gpuimg gray -")
    assert {"--weights", "--workers", "-j"} <= set(options) and "--output" not in options
