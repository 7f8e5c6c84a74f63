"""What the benchmarks say about the machine and the program they ran on."""

import datetime
import os
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def commit():
    """What Git calls the version; "unknown" without Git or its history."""
    if not shutil.which("git"):
        return "unknown"
    describe = ["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12"]
    return subprocess.run(describe, capture_output=True, text=True, check=False).stdout.strip() or "unknown"


def facts(program):
    """Of the program that was built, by its own account, and of this moment."""
    info = subprocess.run([program, "info"], capture_output=True, text=True, check=True).stdout
    told = dict(re.findall(r"^ *(compiler|CPU|SIMD) +(.*)$", info, re.MULTILINE))
    return {"cpu": told["CPU"], "cores": len(os.sched_getaffinity(0)), "compiler": told["compiler"],
            "simd": told["SIMD"], "load": round(os.getloadavg()[0], 1), "commit": commit(),
            "date": datetime.date.today().isoformat()}


def codecs(program):
    """The codecs' libraries that were built in, as "ISA-L 2.30.0"."""
    info = subprocess.run([program, "info"], capture_output=True, text=True, check=True).stdout
    lines = re.search(r"^codecs .*\n(?: .*\n)*", info, re.MULTILINE).group().splitlines()
    return [" ".join(line.removeprefix("codecs").split()[:2]) for line in lines]
