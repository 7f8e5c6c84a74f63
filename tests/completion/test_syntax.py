"""Each shell reads its file without complaint, and every command, option and stage is in it."""
import os
import re
import subprocess

import pytest

from conftest import SHARE, needs

FILES = {"bash": "bash-completion/completions/gpuimg", "zsh": "zsh/site-functions/_gpuimg",
         "fish": "fish/vendor_completions.d/gpuimg.fish"}


@pytest.mark.parametrize("shell", FILES)
def test_syntax(shell):
    needs(shell)
    ran = subprocess.run([shell, "-n", f"{SHARE}/{FILES[shell]}"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@pytest.mark.parametrize("shell", FILES)
def test_everything_is_in_it(shell):
    with open(f"{SHARE}/{FILES[shell]}", encoding="utf-8") as file:
        text = file.read()
    program = os.environ["GPUIMG"]
    overview = subprocess.run([program, "help"], capture_output=True, text=True, check=True).stdout
    commands = re.findall(r"^  ([a-z]+) {2,}\S", overview, re.M)
    assert len(commands) >= 6
    for command in commands:
        assert re.search(rf"\b{command}\b", text)
        told = subprocess.run([program, "help", command], capture_output=True, text=True, check=True).stdout
        for option in re.findall(r"^  (?:-\w, )?--([a-z0-9-]+)", told, re.M):
            assert re.search(rf"(--|-l ){option}\b", text), (command, option)
