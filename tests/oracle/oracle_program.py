"""Runs the program under test."""

import os
import pathlib
import subprocess

from oracle_images import read_png, write_png


class Gpuimg:
    """The program named by GPUIMG on the device named by GPUIMG_TEST_DEVICE (cpu); files go to `folder`."""

    def __init__(self, folder):
        self.program = os.path.abspath(os.environ["GPUIMG"])
        self.device = os.environ.get("GPUIMG_TEST_DEVICE", "cpu")
        self.folder = pathlib.Path(folder)
        self.environment = {k: v for k, v in os.environ.items() if k != "GPUIMG_DEVICE"}

    def run(self, command, *arguments, device=None, expect=0):
        """Runs `gpuimg COMMAND --device DEVICE ARGUMENTS`; returns the finished process with text output."""
        line = [self.program, command, "--device", device or self.device, *map(str, arguments)]
        done = subprocess.run(line, env=self.environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == expect, f"{line}: exit {done.returncode}, expected {expect}\n{done.stderr}"
        return done

    def process(self, image, command, *options, device=None):
        """The pixels that a command makes of an image: an array, or the path of a file."""
        source = image
        if not isinstance(image, (str, pathlib.Path)):
            source = write_png(self.folder / "in.png", image)
        target = self.folder / "out.png"
        target.unlink(missing_ok=True)
        self.run(command, *options, "--png-level", 1, source, target, device=device)
        return read_png(target)
