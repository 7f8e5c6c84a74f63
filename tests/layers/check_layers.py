"""The architecture's rules that a compiler does not check. Argument: the project's folder.

Includes go one way, cli -> api -> run -> codec | cpu | cuda -> core; codec and the backends never see each other. bench stands
between cli and the backends, with the demonstrations in kernels/demos. stb is seen by its codec alone, other image libraries
by sources of codec, CUDA's headers by the CUDA backend and the kernels. Only cli prints, only main exits."""
import pathlib
import re
import sys

ALLOWED = {
    "core": {"core"},
    "codec": {"codec", "core"},
    "cpu": {"cpu", "core"},
    "kernels": {"kernels", "cuda", "core"},  # one layer with cuda: its device side
    "cuda": {"cuda", "kernels", "core"},
    "demos": {"demos", "bench", "kernels", "cuda", "cpu", "core"},  # compiled with CUDA or without
    "bench": {"bench", "cpu", "core"},
    "run": {"run", "codec", "cpu", "cuda", "core"},
    "api": {"api", "run", "codec", "cpu", "cuda", "core"},
    "cli": {"cli", "bench", "api", "run", "codec", "cpu", "cuda", "core"},
}
EXITS = ("cli/main.c", "cli/signals.c")  # the second by a second SIGINT, in its handler
PRINT = re.compile(r"\b(?:v?printf|puts|putchar|perror)\s*\(|\b(?:stdout|stderr)\b")
EXIT = re.compile(r"\b(?:_?exit|_Exit|quick_exit|abort)\s*\(")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def code_only(text):
    """The text without comments and literals; every line keeps its number."""
    return TOKEN.sub(lambda match: "\n" * match.group().count("\n"), text)


def layer_of(path):
    """The layer of a path relative to src/ or the project; api*.c and gpuimg.h are the public interface."""
    if path.startswith("kernels/demos/"):
        return "demos"
    first = pathlib.PurePosixPath(path).parts[0]
    return "api" if first == "gpuimg.h" or re.fullmatch(r"api(_\w+)?\.[ch]", first) else first


def check_includes(path, layer, text):
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not match:
            continue
        quote, name = match.groups()
        if "stb_image" in name and path != "codec/stb.c":
            yield number, f"only codec/stb.c includes {name}"
        if re.match(r"(isa-l|zlib\.h|j(peglib|error|config)\.h)", name) and not re.match(r"codec/\w+\.c$", path):
            yield number, f"only sources of codec include {name}"
        if re.match(r"(cuda|cub/|nvjpeg|npp|cublas)", name) and quote == "<" and layer not in ("cuda", "kernels", "demos"):
            yield number, f"{layer} must not include {name}"
        if quote == '"' and layer_of(name) not in ALLOWED[layer]:
            yield number, f"{layer} must not include {name}"


def check_calls(path, layer, text):
    for number, line in enumerate(code_only(text).splitlines(), 1):
        if layer != "cli" and PRINT.search(line):
            yield number, f"only cli prints: {line.strip()}"
        if path not in EXITS and EXIT.search(line):
            yield number, f"only main exits: {line.strip()}"


def main():
    project = pathlib.Path(sys.argv[1])
    count, faults = 0, []
    for base in (project / "src", project / "kernels"):
        for file in sorted(base.rglob("*.*")):
            if file.suffix not in (".c", ".h", ".cu", ".cuh"):
                continue
            count += 1
            path = file.relative_to(project / "src" if base.name == "src" else project).as_posix()
            layer, text = layer_of(path), file.read_text(encoding="utf-8")
            faults += [f"{file}:{number}: {what}" for check in (check_includes, check_calls)
                       for number, what in check(path, layer, text)]
    print("\n".join(faults) if faults else f"{count} files keep to their layers")
    return bool(faults) or count == 0


if __name__ == "__main__":
    sys.exit(main())
