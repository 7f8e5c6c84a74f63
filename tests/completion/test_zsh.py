"""zsh: what its line editor makes of one TAB, and what it lists."""
import pytest

from conftest import SHARE, Shell, needs

needs("zsh")
# LISTMAX: gray has more options than zsh lists without asking first.
SETUP = f"""LISTMAX=1000; fpath=({SHARE}/zsh/site-functions $fpath); autoload -Uz compinit; compinit -D -u
note() {{ print -r -- "$BUFFER" >>$LINES_FILE }}; zle -N note; bindkey '^Xp' note"""


@pytest.fixture(scope="module")
def zsh(folder, tmp_path_factory):
    shell = Shell(["zsh", "-f"], SETUP, folder, tmp_path_factory.mktemp("zsh"))
    yield shell
    shell.close()


@pytest.mark.parametrize("line,completed", [
    ("gpuimg thr", "gpuimg threshold "), ("gpuimg help th", "gpuimg help threshold "),
    ("gpuimg help man", "gpuimg help manifests "), ("gpuimg hist --merge r", "gpuimg hist --merge r.json "),
    ("gpuimg gray --wei", "gpuimg gray --weights="), ("gpuimg gray --weights l", "gpuimg gray --weights linear "),
    ("gpuimg gray --weights=l", "gpuimg gray --weights=linear "), ("gpuimg gray --format p", "gpuimg gray --format png "),
    ("gpuimg hist --format=c", "gpuimg hist --format=csv "), ("gpuimg run --format t", "gpuimg run --format txt "),
    ("gpuimg gray --device a", "gpuimg gray --device auto "), ("gpuimg hist -o r", "gpuimg hist -o r.json "),
    ("gpuimg bench dif", "gpuimg bench diffusion "), ("gpuimg bench add dif", "gpuimg bench add diffusion "),
    ("gpuimg gray a", "gpuimg gray a.png "), ("gpuimg gray B", "gpuimg gray B.JPG "),
    ("gpuimg gray m", "gpuimg gray my\\ photo.jpeg "), ("gpuimg gray n", "gpuimg gray notes.txt "),
    ("gpuimg run thr", "gpuimg run threshold "), ("gpuimg run 'thr", "gpuimg run 'threshold"),
    ("gpuimg run 'gray | thr", "gpuimg run 'gray | threshold"), ("gpuimg run \"gray|thr", "gpuimg run \"gray|threshold"),
    ("gpuimg run 'gray | threshold o", "gpuimg run 'gray | threshold otsu"),
    ("gpuimg run 'gray weights=l", "gpuimg run 'gray weights=linear"), ("gpuimg run 'hist b", "gpuimg run 'hist bins="),
    ("gpuimg run 'gray' a", "gpuimg run 'gray' a.png "),
])
def test_a_line(zsh, line, completed):
    assert zsh.complete(line) == completed


@pytest.mark.parametrize("line,listed,unlisted", [
    ("gpuimg ", ["gray", "one gray channel", "help"], ["--quality"]),
    ("gpuimg gray -", ["--weights", "--format", "--workers", "-j"], ["--output"]),
    ("gpuimg gray --format ", ["png", "jpeg"], ["json"]), ("gpuimg hist --format ", ["json", "csv"], ["jpeg"]),
    ("gpuimg gray --device ", ["auto", "cpu", "cuda", "cuda:all"], []),
    ("gpuimg hist --merge ", ["r.json", "subfolder"], ["a.png"]), ("gpuimg help ", ["gray", "manifests", "what --manifest writes"], []), ("gpuimg gray ", ["a.png", "B.JPG", "subfolder"], ["notes"]),
    ("gpuimg run 'gray | threshold ", ["level=", "level=otsu"], ["weights"]),
])
def test_what_is_listed(zsh, line, listed, unlisted):
    shown = zsh.typed(line + "\t")[1].split(line, 1)[-1]
    assert all(word in shown for word in listed) and not any(word in shown for word in unlisted), shown
