#!/usr/bin/env python3
"""Is the device that `auto` takes the faster one? Times whole commands with --device cpu, cuda and auto, from file to file,
and prints what auto took beside what it should have taken.

    tests/gpu/choice.py GPUIMG FOLDER [--seconds N] [--only REGEX] [--once] [--json FILE]

FOLDER holds photo_1080.jpg, photo_4k.jpg and photo_8k.jpg, any photographs of those sizes. Each command runs twice, and the
shorter time counts: once where it takes over a second, or with --once. --only takes the rows whose stage and images it
matches ('heat.*, 8k'). Choices within 10 % or 20 ms of the best are right too."""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

SIZES = ["1080", "4k", "8k"]
# From next to nothing to a minute of a core at 8K.
STAGES = ["gray", "threshold otsu", "blur radius=5", "blur sigma=3", "heat mode=linear steps=20", "heat inner=20",
          "heat inner=100", "heat steps=10 inner=100"]
BATCHES = {"gray": [4, 16, 64, 512], "blur sigma=3": [4, 64, 512], "heat inner=20": [4, 16, 64, 128],
           "heat inner=100": [4, 16, 64]}


def run(program, stage, device, source, out):
    started = time.monotonic()
    done = subprocess.run([program, "run", stage, "--device", device, "-v", source, out], capture_output=True, text=True)
    seconds = time.monotonic() - started
    if done.returncode:
        sys.exit(f"{stage} --device {device}: exit {done.returncode}\n{done.stderr}")
    return seconds, done.stderr


def best(program, stage, device, source, out, once):
    seconds, said = run(program, stage, device, source, out)
    if seconds < 1 and not once:
        seconds = min(seconds, run(program, stage, device, source, out)[0])
    return seconds, said


def measure(program, stage, source, out, once):
    row = {}
    for device in ("cpu", "cuda", "auto"):
        row[device], said = best(program, stage, device, source, out, once)
    took, why = re.search(r"device (\w+)[^(]*\(.*?\): (.*)", said).groups()
    least = min(row["cpu"], row["cuda"])
    return {**row, "took": took, "right": row[took] <= max(least * 1.1, least + 0.02), "why": why}


def batch(folder, photo, count):
    directory = os.path.join(folder, f"batch{count}")
    os.makedirs(directory, exist_ok=True)
    for i in range(count):
        if not os.path.exists(os.path.join(directory, f"{i}.jpg")):
            os.link(photo, os.path.join(directory, f"{i}.jpg"))
    return directory


def cases(folder, work):
    photo = os.path.join(work, "photo.jpg")
    shutil.copy(os.path.join(folder, "photo_1080.jpg"), photo)
    for stage, counts in BATCHES.items():
        for count in counts:
            yield stage, f"{count} x 1080", batch(work, photo, count), os.path.join(work, "out")
    for stage in STAGES:
        for size in SIZES:
            yield stage, size, os.path.join(folder, f"photo_{size}.jpg"), os.path.join(work, "out.jpg")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--only", default="")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--json")
    options = parser.parse_args()
    rows, started = [], time.monotonic()
    print(f"{'stage':28} {'images':>10} {'cpu':>8} {'cuda':>8} {'auto':>8}  took")
    with tempfile.TemporaryDirectory() as work:
        for stage, images, source, out in cases(options.folder, work):
            if not re.search(options.only, f"{stage}, {images}"):
                continue
            if time.monotonic() - started > options.seconds:
                print("out of time")
                break
            row = {"stage": stage, "images": images, **measure(options.program, stage, source, out, options.once)}
            rows.append(row)
            print(f"{stage:28} {images:>10} {row['cpu']:7.3f}s {row['cuda']:7.3f}s {row['auto']:7.3f}s  {row['took']:4} "
                  f"{'' if row['right'] else 'WRONG  '}{row['why']}", flush=True)
            shutil.rmtree(os.path.join(work, "out"), ignore_errors=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"cores": len(os.sched_getaffinity(0)), "results": rows}, file, indent=1)
    wrong = sum(not row["right"] for row in rows)
    print(f"{len(rows)} choices, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
