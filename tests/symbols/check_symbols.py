"""The library defines the functions of gpuimg.h for others to link with, and nothing else.

Arguments: NM HEADER LIBRARY."""
import re
import subprocess
import sys


def declared(header):
    with open(header, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/|^#.*?$", "", file.read(), flags=re.S | re.M)
    return set(re.findall(r"GPUIMG_API[^;(]*?\b(\w+)\s*\(", text))


def defined(nm, library):
    scope = "-D" if ".so" in library else "-g"
    lines = subprocess.run([nm, scope, "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1].split("@")[0] for line in lines.splitlines() if len(line.split()) == 3}


def main():
    nm, header, library = sys.argv[1:]
    wanted, found = declared(header), defined(nm, library)
    for name in sorted(found - wanted):
        print(f"{library} exports {name}, which {header} does not declare")
    for name in sorted(wanted - found):
        print(f"{library} lacks {name}, which {header} declares")
    return found != wanted or not wanted


if __name__ == "__main__":
    sys.exit(main())
