"""bash: what is offered (COMPREPLY), and what readline makes of it."""
import pytest

from conftest import SHARE, Shell, needs

needs("bash")
SETUP = f"""source {SHARE}/bash-completion/completions/gpuimg
logged() {{ _gpuimg "$@"; printf '%s\\n' "${{COMPREPLY[@]}}" >"$LINES_FILE.offered"; }}
complete -F logged -o default gpuimg
bind -x '"\\C-xp": printf "%s\\n" "$READLINE_LINE" >>"$LINES_FILE"'"""


@pytest.fixture(scope="module")
def bash(folder, tmp_path_factory):
    shell = Shell(["bash", "--norc", "--noprofile"], SETUP, folder, tmp_path_factory.mktemp("bash"))
    yield shell
    shell.close()


def offered(bash, line):
    bash.complete(line)
    return (bash.notes / "lines.offered").read_text().split("\n")[:-1]


@pytest.mark.parametrize("line,completed", [
    ("gpuimg thr", "gpuimg threshold "), ("gpuimg --v", "gpuimg --version "), ("gpuimg help th", "gpuimg help threshold "),
    ("gpuimg help man", "gpuimg help manifests "), ("gpuimg hist --merge r", "gpuimg hist --merge r.json "),
    ("gpuimg gray --device=cuda:a", "gpuimg gray --device=cuda:all "),
    ("gpuimg gray --wei", "gpuimg gray --weights "), ("gpuimg gray --weights l", "gpuimg gray --weights linear "),
    ("gpuimg gray --weights=l", "gpuimg gray --weights=linear "), ("gpuimg gray --format p", "gpuimg gray --format png "),
    ("gpuimg hist --format=c", "gpuimg hist --format=csv "), ("gpuimg run --format t", "gpuimg run --format txt "),
    ("gpuimg gray --device a", "gpuimg gray --device auto "), ("gpuimg gray --device=cp", "gpuimg gray --device=cpu "),
    ("gpuimg hist -o r", "gpuimg hist -o r.json "), ("gpuimg hist -o su", "gpuimg hist -o subfolder/"),
    ("gpuimg gray a", "gpuimg gray a.png "), ("gpuimg gray --files-from n", "gpuimg gray --files-from notes.txt "),
    # Names that need quotes, and that bash splits; a file that is no image where no image begins so.
    ("gpuimg gray m", "gpuimg gray my\\ photo.jpeg "), ("gpuimg gray my\\ p", "gpuimg gray my\\ photo.jpeg "),
    ("gpuimg gray 'm", "gpuimg gray 'my photo.jpeg' "), ("gpuimg gray x:y", "gpuimg gray x:y.png "),
    ("gpuimg gray n", "gpuimg gray notes.txt "),
    # A pipeline, whose quote stays open.
    ("gpuimg run thr", "gpuimg run threshold "), ("gpuimg run 'thr", "gpuimg run 'threshold"),
    ("gpuimg run 'gray | thr", "gpuimg run 'gray | threshold"), ("gpuimg run \"gray|thr", "gpuimg run \"gray|threshold"),
    ("gpuimg run 'gray | threshold o", "gpuimg run 'gray | threshold otsu"),
    ("gpuimg run 'gray weights=l", "gpuimg run 'gray weights=linear"),
    ("gpuimg run 'hist b", "gpuimg run 'hist bins="), ("gpuimg run -v --format txt 'hi", "gpuimg run -v --format txt 'hist"),
    ("gpuimg run 'gray' a", "gpuimg run 'gray' a.png "),
    # Operations, then arrays or images.
    ("gpuimg reduce me", "gpuimg reduce mean "), ("gpuimg reduce -v me", "gpuimg reduce -v mean "),
    ("gpuimg scan sum d", "gpuimg scan sum data.npy "), ("gpuimg matmul d", "gpuimg matmul data.npy "),
    ("gpuimg matmul a", "gpuimg matmul a.png "), ("gpuimg scan --algo l", "gpuimg scan --algo lookback "),
    # Demonstrations, any number.
    ("gpuimg bench dif", "gpuimg bench diffusion "), ("gpuimg bench --quick add dif", "gpuimg bench --quick add diffusion "),
    # Nothing to offer.
    ("gpuimg gray --quality ", "gpuimg gray --quality "), ("gpuimg info a", "gpuimg info a.png "),
    ("gpuimg gray -- --wei", "gpuimg gray -- --wei"),
])
def test_a_line(bash, line, completed):
    assert bash.complete(line) == completed


def test_what_is_offered(bash):
    assert {"gray", "threshold", "hist", "run", "info", "help"} <= set(offered(bash, "gpuimg "))
    assert {"--weights", "--format", "-j", "--workers"} <= set(offered(bash, "gpuimg gray -"))
    assert "--output" not in offered(bash, "gpuimg gray -") and "--quality" not in offered(bash, "gpuimg hist -")
    assert offered(bash, "gpuimg gray --weights ") == ["601", "709", "linear"]
    assert offered(bash, "gpuimg hist --codec ") == ["auto", "zlib", "stb", "auto-fast", "nvjpeg"]
    assert offered(bash, "gpuimg gray --subsampling=") == ["420", "422", "444"]
    assert {"png", "jpg", "jpeg", "txt", "json", "csv"} <= set(offered(bash, "gpuimg run --format "))
    assert {"txt", "json"}.isdisjoint(offered(bash, "gpuimg gray --format "))
    assert {"auto", "cpu", "cuda", "cuda:all"} <= set(offered(bash, "gpuimg gray --device "))
    assert set(offered(bash, "gpuimg hist --merge ")) == {"r.json", "subfolder"}
    assert {"gray", "manifests", "status", "variables"} <= set(offered(bash, "gpuimg help "))
    assert set(offered(bash, "gpuimg scan ")) == {"sum", "prod", "min", "max"}
    assert {"all", "add", "heat"} <= set(offered(bash, "gpuimg bench "))
    assert {"all", "add", "heat"} <= set(offered(bash, "gpuimg bench add "))
    assert set(offered(bash, "gpuimg reduce mean ")) == {"data.npy", "a.png", "B.JPG", "my photo.jpeg", "x:y.png",
                                                         "subfolder"}
    assert set(offered(bash, "gpuimg gray ")) == {"a.png", "B.JPG", "my photo.jpeg", "x:y.png", "subfolder"}
    assert {"notes.txt", "r.json", "subfolder"} <= set(offered(bash, "gpuimg hist -o "))
    assert "gray | threshold level=otsu" in offered(bash, "gpuimg run 'gray | threshold ")
