#!/usr/bin/python3
"""Makes what README.md shows, with the tool itself: images/stages.png and the histogram's text. Argument: the program."""
import pathlib
import re
import subprocess
import sys
import tempfile

from PIL import Image

PROJECT = pathlib.Path(__file__).resolve().parents[1]
PANEL, GAP = (400, 225), 6


def draw_stages(program, folder):
    source = PROJECT / "samples/landscape.png"
    panels = [source]
    for name, command in (("gray", ["gray"]), ("otsu", ["threshold", "--level", "otsu"])):
        panels.append(pathlib.Path(folder, f"{name}.png"))
        subprocess.run([program, *command, source, panels[-1]], check=True)
    strip = Image.new("RGBA", (3 * PANEL[0] + 2 * GAP, PANEL[1]), (0, 0, 0, 0))
    for i, path in enumerate(panels):
        with Image.open(path) as image:
            strip.paste(image.convert("RGB").resize(PANEL, Image.LANCZOS), (i * (PANEL[0] + GAP), 0))
    target = PROJECT / "docs/images/stages.png"
    target.parent.mkdir(exist_ok=True)
    strip.save(target, optimize=True)


def write_histogram(program):
    report = subprocess.run([program, "hist", "samples/scan.png"], cwd=PROJECT, check=True, capture_output=True,
                            encoding="utf-8", env={"COLUMNS": "80", "LC_ALL": "C.UTF-8"}).stdout
    block = "\n".join(("    " + line).rstrip() for line in report.strip("\n").splitlines())
    readme = PROJECT / "README.md"
    text = readme.read_text(encoding="utf-8")
    text = re.sub(r"(<!-- histogram -->\n).*?(\n## )", lambda m: f"{m[1]}\n{block}\n{m[2]}", text, count=1, flags=re.S)
    readme.write_text(text, encoding="utf-8")


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        draw_stages(program, folder)
    write_histogram(program)


if __name__ == "__main__":
    main()
