"""gpuimg beside vips, Pillow, OpenCV and ffmpeg, from file to file: end_to_end.py GPUIMG IMAGES (tests/bench/images.py)

Each job is a command of gpuimg's and what others are to be called with for the same work, every one a process that reads
files and writes files. All tools run in turn, so that what else the machine does meets each of them; the first round, which
fills the page cache, is not counted. Of each: the median and the shortest time, the size of what it wrote, and the peak
of its resident memory (of the largest process where there are several; never less than the 12 MB or so of this program,
which it is started from). A peer that is not installed is left out, one
that fails is named. Peers: apt-get install libvips-tools ffmpeg python3-pil python3-opencv
"""

import argparse
import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import machine

PEER = pathlib.Path(__file__).with_name("peer.py")

# ---- tools ------------------------------------------------------------------------------------------------------------


def version_of(*command):
    """The first number in what the command prints; None where it does not run."""
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    found = re.search(r"\d+(\.\d+)+", ran.stdout)
    return found.group() if found else "unknown"


def installed():
    """Peers and their versions."""
    found = {"vips": version_of("vips", "--version"), "ffmpeg": version_of("ffmpeg", "-version")}
    for name, module in (("Pillow", "PIL"), ("OpenCV", "cv2")):
        if importlib.util.find_spec(module):
            found[name] = version_of(sys.executable, "-c", f"import {module}; print({module}.__version__)")
    return {name: version for name, version in found.items() if version}


# ---- jobs -------------------------------------------------------------------------------------------------------------


class Job:
    """`commands`: a list of words for each tool, whose name begins with that of a peer or is gpuimg. `goal`: the least
    ratio of the best peer's time to gpuimg's, on all cores and on one; None: for information."""

    def __init__(self, name, target, commands, goals=(None, None)):
        self.name, self.target, self.commands, self.goals = name, target, commands, goals


class Jobs:
    def __init__(self, program, images, work, cores):
        self.program, self.images, self.work, self.cores = str(program), images, work, cores

    def python(self, library, what, source, target):
        return [sys.executable, str(PEER), library.lower(), what, str(source), str(target), str(self.cores)]

    def python_peers(self, what, source, target):
        return {name: self.python(name, what, source, target) for name in ("Pillow", "OpenCV")}

    def vips(self, operation, source, target, *options, save=None):
        if save is None:
            save = "[Q=90]" if target.suffix == ".jpg" else ""
        return ["vips", operation, str(source), f"{target}{save}", *options]

    def gray(self, source, kind, goals):
        """One image. What vips writes by default is slow; its fastest settings are peers too, with each filter that can be
        the smaller."""
        source, target = self.images / source, self.work / f"out.{kind}"
        commands = {"gpuimg": [self.program, "gray", str(source), str(target)],
                    "vips": self.vips("colourspace", source, target, "b-w"), **self.python_peers("gray", source, target)}
        if source.suffix == ".jpg":
            commands |= {f"{name} luma": self.python(name, "gray-luma", source, target) for name in ("Pillow", "OpenCV")}
        if kind == "png":
            filters = ("up", "avg") if "photo" in source.name else ("none", "up")
            commands |= {f"vips zlib 1, {name}": self.vips("colourspace", source, target, "b-w",
                                                           save=f"[compression=1,filter={name}]") for name in filters}
            commands["ffmpeg zlib 1"] = ["ffmpeg", "-v", "error", "-y", "-i", str(source), "-pix_fmt", "gray", "-pred", "avg",
                                         "-compression_level", "1", str(target)]
        title = {"photo_8k": "8K photo", "photo_1080": "1080p photo", "screen_4k": "4K screenshot", "chart_4k": "4K chart"}
        names = {"png": "PNG", "jpg": "JPEG"}
        return Job(f"gray, {title[source.stem]}, {names[source.suffix[1:]]} to {names[kind]}", target, commands, goals)

    def mask(self, kind, goals):
        source, target = self.images / "photo_8k.jpg", self.work / f"out.{kind}"
        commands = {"gpuimg": [self.program, "run", "gray | threshold level=128", str(source), str(target)],
                    **self.python_peers("mask", source, target)}
        commands |= {f"{name} luma": self.python(name, "mask-luma", source, target) for name in ("Pillow", "OpenCV")}
        return Job(f"gray and threshold, 8K photo, JPEG to {'PNG' if kind == 'png' else 'JPEG'}", target, commands, goals)

    def blurs(self, goals):
        source, target = self.images / "photo_8k.jpg", self.work / "out.jpg"
        kernel, save = self.work / "box.mat", "[Q=90,subsample-mode=on]"
        kernel.write_text("11 1 11 0\n" + " ".join(["1"] * 11) + "\n")
        vips = self.vips("convsep", source, target, str(kernel), "--precision", "integer", save=save)
        yield Job("box r=5, 8K photo, JPEG to JPEG", target, {
            "gpuimg": [self.program, "blur", "--radius", "5", str(source), str(target)], "vips": vips,
            **self.python_peers("box", source, target)}, goals)
        yield Job("Gaussian s=3, 8K photo, JPEG to JPEG", target, {
            "gpuimg": [self.program, "blur", "--sigma", "3", str(source), str(target)],
            "vips": self.vips("gaussblur", source, target, "3", save=save),
            **self.python_peers("gauss", source, target)}, goals)

    def histogram(self, goals):
        source, target = self.images / "photo_8k.png", self.work / "hist.json"
        return Job("histogram, 8K photo, PNG", target, {
            "gpuimg": [self.program, "hist", "-o", str(target), str(source)],
            "vips": ["vips", "hist_find", str(source), str(target.with_suffix(".v"))],
            **self.python_peers("hist", source, target)}, goals)

    def batch(self, kind, goals):
        """Several processes at once, where the tool itself has one core's work at a time."""
        source, target = self.images / f"{kind}64", self.work / f"batch_{kind}"
        there, here = shlex.quote(str(source)), shlex.quote(str(target))
        save = "[Q=90]" if kind == "jpg" else "[compression=1,filter=up]"
        commands = {"gpuimg": [self.program, "gray", str(source), str(target)], **self.python_peers("gray", source, target),
                    "vips by xargs": ["sh", "-c", f"mkdir -p {here} && cd {there} && ls | xargs -P {self.cores} -I@ "
                                                  f"vips colourspace @ {here}/@'{save}' b-w"]}
        if kind == "jpg":
            commands |= {f"{name} luma": self.python(name, "gray-luma", source, target) for name in ("Pillow", "OpenCV")}
        else:
            commands["ffmpeg zlib 1"] = ["sh", "-c", f"mkdir -p {here} && ffmpeg -v error -y -start_number 0 -i "
                                                     f"{there}/img_%02d.png -pix_fmt gray -pred avg -compression_level 1 "
                                                     f"-start_number 0 {here}/img_%02d.png"]
        return Job(f"gray, 64 photos of 1080p, {'PNG' if kind == 'png' else 'JPEG'}", target, commands, goals)

    def all(self):
        ways = (("png", "png"), ("jpg", "png"), ("jpg", "jpg"))
        for name, goals in (("photo_1080", (3, None, None)), ("photo_8k", (5, 4, 1.8))):
            for (source, kind), goal in zip(ways, goals):
                yield self.gray(f"{name}.{source}", kind, (goal, 1.3))
        yield self.gray("screen_4k.png", "png", (1.5, 1.3))
        yield self.gray("chart_4k.png", "png", (1.5, 1.3))
        yield self.mask("png", (4, 1.3))
        yield self.mask("jpg", (1.5, 1.3))
        yield from self.blurs((1.5, 1.3))
        yield self.histogram((4.5, 1.3))
        yield self.batch("png", (4, 1.3))
        yield self.batch("jpg", (1.3, 1.1))


# ---- measuring --------------------------------------------------------------------------------------------------------


def bytes_of(path):
    if path.is_dir():
        return sum(entry.stat().st_size for entry in path.iterdir())
    return path.stat().st_size if path.exists() else 0


def remove(path):
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)


def run_once(command, target):
    """Seconds, peak memory in MB and bytes written; None when it failed or wrote nothing."""
    remove(target)
    start = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)  # it is waited for already
    written = bytes_of(target) or bytes_of(target.with_suffix(".v"))
    return None if status or not written else (seconds, used.ru_maxrss / 1024, written)


def figures(runs):
    seconds = [run[0] for run in runs]
    return {"median_s": round(statistics.median(seconds), 4), "min_s": round(min(seconds), 4),
            "peak_mb": round(max(run[1] for run in runs), 1), "bytes": runs[-1][2]}


def run_job(job, peers, rounds, cores):
    """The entry of the job; peers that are not installed are left out of it, those that fail are in "failed"."""
    commands = {tool: command for tool, command in job.commands.items() if tool == "gpuimg" or tool.split()[0] in peers}
    runs = {tool: [] for tool in commands}
    for turn in range(rounds + 1):
        for tool in list(runs):
            measured = run_once(commands[tool], job.target)
            if measured is None:
                del runs[tool]
            elif turn > 0:
                runs[tool].append(measured)
    remove(job.target)
    if "gpuimg" not in runs:
        sys.exit(f"{job.name}: {shlex.join(commands['gpuimg'])} failed")
    entry = {"job": job.name, "cores": cores, "rounds": rounds, "tools": {t: figures(r) for t, r in runs.items()}}
    if len(runs) < len(commands):
        entry["failed"] = sorted(set(commands) - set(runs))
    ours = entry["tools"]["gpuimg"]
    theirs = {tool: found for tool, found in entry["tools"].items() if tool != "gpuimg"}
    if theirs:
        best = min(theirs, key=lambda tool: theirs[tool]["median_s"])
        entry |= {"best_peer": best, "ratio": round(theirs[best]["median_s"] / ours["median_s"], 2),
                  "ratio_of_min": round(min(t["min_s"] for t in theirs.values()) / ours["min_s"], 2)}
    goal = job.goals[0 if cores > 1 else 1]
    return {**entry, "goal": goal} if goal else entry


def print_entry(entry):
    print(f"\n{entry['job']}, {entry['cores']} core{'s' * (entry['cores'] > 1)}")
    for tool, found in sorted(entry["tools"].items(), key=lambda item: item[1]["median_s"]):
        print(f"  {tool:18} {found['median_s']:8.3f} s  (min {found['min_s']:7.3f})  {found['bytes'] / 1e6:8.2f} MB"
              f"  {found['peak_mb']:7.0f} MB of memory")
    for tool in entry.get("failed", ()):
        print(f"  {tool:18}   failed")
    if "ratio" in entry:
        missed = "goal" in entry and max(entry["ratio"], entry["ratio_of_min"]) < entry["goal"]
        print(f"  {entry['best_peer']}'s time by gpuimg's: {entry['ratio']:.2f} (of the shortest: {entry['ratio_of_min']:.2f})"
              + (f", goal {entry['goal']}" if "goal" in entry else "") + (": MISSED" if missed else ""), flush=True)


def arguments():
    parser = argparse.ArgumentParser(description="Times gpuimg beside its peers, from file to file.")
    parser.add_argument("gpuimg", type=pathlib.Path, help="the program")
    parser.add_argument("images", type=pathlib.Path, help="what tests/bench/images.py made")
    parser.add_argument("--runs", type=int, default=5, help="counted rounds: %(default)s")
    parser.add_argument("--jobs", default="", metavar="TEXT", help="only jobs with that in their name")
    parser.add_argument("--one-core", action="store_true", help="after all cores, the same on one alone")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the figures, too")
    return parser.parse_args()


def main():
    options = arguments()
    program, images, peers = options.gpuimg.resolve(), options.images.resolve(), installed()
    about = images / "images.json"
    facts = {**machine.facts(program), "codecs": machine.codecs(program), "peers": peers,
             "images": json.loads(about.read_text())["source"] if about.exists() else "unknown"}
    print(f"{facts['cpu']}, {facts['cores']} cores, {facts['simd']}; {', '.join(facts['codecs'])}")
    print(f"peers: {', '.join(f'{name} {version}' for name, version in peers.items()) or 'none'}")
    everything = os.sched_getaffinity(0)
    turns = [everything] + [{min(everything)}] * (options.one_core and len(everything) > 1)
    entries = []
    for cpus in turns:
        os.sched_setaffinity(0, cpus)  # which the tools inherit
        with tempfile.TemporaryDirectory() as work:
            for job in Jobs(program, images, pathlib.Path(work), len(cpus)).all():
                if options.jobs in job.name:
                    entries.append(run_job(job, peers, options.runs, len(cpus)))
                    print_entry(entries[-1])
    if options.json:
        options.json.write_text(json.dumps({**facts, "runs": entries}, indent=1) + "\n")


if __name__ == "__main__":
    main()
