"""README.md and the built-in help agree with the stage table, and README's examples work. Argument: the project's folder;
GPUIMG in the environment is the program."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def stages(table):
    """Stage name -> names of its options, as src/core/stages.h has them."""
    found = {name: [] for name in re.findall(r"^\s+STAGE\([A-Z]+, (\w+),", table, flags=re.M)}
    for name, option in re.findall(r"^\s+OPTION\((\w+), [A-Z]+, (\w+),", table, flags=re.M):
        found[name].append(option)
    return found


def check_table(readme, table, program):
    for name, options in table.items():
        row = re.search(rf"^\| `{name}` \|.*$", readme, flags=re.M)
        if not row:
            yield f"README.md: stage {name} has no row in the table"
            continue
        told = subprocess.run([program, "help", name], capture_output=True, text=True, check=False)
        if told.returncode != 0:
            yield f"gpuimg help {name} fails: {told.stderr}"
        for option in options:
            if f"`{option}=" not in row.group():
                yield f"README.md: the row of {name} lacks {option}="
            if f"--{option}" not in told.stdout:
                yield f"gpuimg help {name} lacks --{option}"
    told = subprocess.run([program, "help"], capture_output=True, text=True, check=False).stdout
    yield from (f"gpuimg help lacks {name}" for name in table if not re.search(rf"\b{name}\b", told))


def check_examples(readme, project, program):
    """Runs the indented lines of the sections "Examples" and "Arrays" in a folder that has the samples and some photos."""
    sections = [readme.split(f"\n## {title}\n")[1].split("\n## ")[0] for title in ("Examples", "Arrays")]
    lines = [re.findall(r"^    (.*\b(?:gpuimg|python3) .*)$", section, flags=re.M) for section in sections]
    if len(lines[0]) < 5 or len(lines[1]) < 3:
        yield "README.md: fewer examples than there were"
    arrays = [line.replace("python3", sys.executable) for line in lines[1]] if importlib.util.find_spec("numpy") else []
    examples = lines[0] + arrays
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(project / "samples", pathlib.Path(folder, "samples"))
        pathlib.Path(folder, "photos").mkdir()
        for picture in ("landscape.png", "portrait_exif6.jpg"):
            shutil.copy(project / "samples" / picture, pathlib.Path(folder, "photos"))
        path = f"{pathlib.Path(program).parent}:{os.environ['PATH']}"
        for line in examples:
            ran = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=folder, env={**os.environ, "PATH": path},
                                 capture_output=True, text=True, check=False)
            if ran.returncode != 0:
                yield f"README.md: `{line}` exits {ran.returncode}: {ran.stderr}"


def check_links(readme, project):
    for target in re.findall(r"\]\(([^)#]+)\)", readme):
        if "://" not in target and not (project / target).exists():
            yield f"README.md: {target} does not exist"


def main():
    project, program = pathlib.Path(sys.argv[1]), os.environ["GPUIMG"]
    readme = (project / "README.md").read_text(encoding="utf-8")
    table = stages((project / "src/core/stages.h").read_text(encoding="utf-8"))
    faults = [*check_table(readme, table, program), *check_examples(readme, project, program),
              *check_links(readme, project)]
    print("\n".join(faults) if faults else f"{len(table)} stages, README.md and help agree")
    return bool(faults) or not table


if __name__ == "__main__":
    sys.exit(main())
