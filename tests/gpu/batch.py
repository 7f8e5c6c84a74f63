#!/usr/bin/env python3
"""Directories at full speed: images/s from file to file over many copies of a few 1080p photographs, as JPEG and as PNG, on
either device, beside OpenCV on as many threads as there are cores; and how much longer each run takes than what bounds it.

    tests/gpu/batch.py GPUIMG FOLDER [--count N] [--repeats N] [--json FILE] [--trace FILE]

FOLDER holds the photographs as JPEG. Runs take turns, and the shortest counts. The bound of a run is its busiest resource:
its workers, of which each decodes and encodes and, on the CPU, works on the pixels (the sum over their number), or the
GPU's copies in either direction or its kernels, by the GPU's own clock. A GPU's context takes the first tenths of a second,
which are told apart. `one by one` is the same with --streams 1 -j 1, on an eighth of the images."""
import argparse
import concurrent.futures
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

WORK = {"gray": ["gray"], "gray, from RGB": ["gray", "--no-jpeg-luma"], "blur sigma=3": ["blur", "--sigma", "3"]}


def fill(folder, photos, kind, count):
    """count files in a folder of their own, hard links of one for each photograph."""
    import cv2
    directory = os.path.join(folder, f"{kind}{count}")
    os.makedirs(directory)
    for i, photo in enumerate(photos):
        first = os.path.join(folder, f"{i}.{kind}")
        if not os.path.exists(first) and kind == "png":
            cv2.imwrite(first, cv2.imread(photo), [cv2.IMWRITE_PNG_COMPRESSION, 4])
        elif not os.path.exists(first):
            shutil.copy(photo, first)
        for j in range(i, count, len(photos)):
            os.link(first, os.path.join(directory, f"{j:05}.{kind}"))
    return directory


def workplace():
    """A folder for inputs and outputs, in memory where there is enough: it is not the disk that is measured."""
    memory = "/dev/shm"
    room = shutil.disk_usage(memory).free if os.path.isdir(memory) else 0
    return tempfile.TemporaryDirectory(dir=memory if room > 16 << 30 else None)


class Run:
    def __init__(self, folder):
        self.out = os.path.join(folder, "out")
        self.stats = os.path.join(folder, "stats.json")

    def ours(self, program, work, device, source, options=()):
        shutil.rmtree(self.out, ignore_errors=True)
        command = [program, *WORK[work], "-q", "--device", device, "--stats-json", self.stats, *options, source, self.out]
        started = time.monotonic()
        done = subprocess.run(command, capture_output=True, text=True)
        seconds = time.monotonic() - started
        if done.returncode:
            sys.exit(f"{command}: exit {done.returncode}\n{done.stderr}")
        with open(self.stats) as file:
            stats = json.load(file)
        return {"seconds": seconds, "images_per_second": stats["images"] / seconds, **bound(stats), "stats": stats}

    def opencv(self, source, threads):
        import cv2
        shutil.rmtree(self.out, ignore_errors=True)
        os.makedirs(self.out)

        def gray(name):
            pixels = cv2.cvtColor(cv2.imread(os.path.join(source, name)), cv2.COLOR_BGR2GRAY)
            cv2.imwrite(os.path.join(self.out, name), pixels, parameters)
        jpeg = os.path.basename(source).startswith("jpg")
        parameters = [cv2.IMWRITE_JPEG_QUALITY, 90] if jpeg else []
        cv2.setNumThreads(1)
        started = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            count = len(list(pool.map(gray, os.listdir(source))))
        seconds = time.monotonic() - started
        return {"seconds": seconds, "images_per_second": count / seconds}


def bound(stats):
    """Seconds that the busiest resource takes, and the run's time over them."""
    phases = ("decode", "encode") if stats.get("devices") else ("decode", "kernels", "encode")
    times = {"workers": sum(stats["phases"][phase]["busy_ms"] for phase in phases) / stats["workers"]}
    for device in stats.get("devices", []):
        for work in ("upload", "kernels", "download"):
            times[f"{device['name']} {work}"] = device[work]["wall_ms"]
    busiest = max(times, key=times.get)
    started = min((d["first_ms"] for d in stats.get("devices", []) if d["first_ms"] > 0), default=0)
    return {"busiest": busiest, "busiest_s": times[busiest] / 1e3, "wall_over_busiest": stats["wall_ms"] / times[busiest],
            "device_started_s": started / 1e3, "after_start_over_busiest": (stats["wall_ms"] - started) / times[busiest]}


def best(runs):
    return min(runs, key=lambda run: run["seconds"])


def measure(program, run, work, kind, whole, part, repeats):
    threads = len(os.sched_getaffinity(0))
    tools = {"cuda": lambda: run.ours(program, work, "cuda", whole),
             "cpu": lambda: run.ours(program, work, "cpu", whole)}
    if not work.startswith("blur"):
        tools["opencv"] = lambda: run.opencv(whole, threads)
    found = {name: [] for name in tools}
    for _ in range(repeats):
        for name, tool in tools.items():
            found[name].append(tool())
    row = {"work": work, "kind": kind, **{name: best(runs) for name, runs in found.items()}}
    row["one_by_one"] = run.ours(program, work, "cuda", part, ["--streams", "1", "-j", "1"])
    return row


def show(row):
    print(f"{row['work']}, {row['kind']}", flush=True)
    for name in ("cuda", "cpu", "one_by_one", "opencv"):
        if name not in row:
            continue
        r = row[name]
        about = f"{r['wall_over_busiest']:6.2f} x {r['busiest']}" if "busiest" in r else ""
        if r.get("device_started_s"):
            about += f", {r['after_start_over_busiest']:.2f} x from the GPU's first work, {r['device_started_s']:.2f} s in"
        print(f"    {name:12} {r['seconds']:7.3f} s {r['images_per_second']:8.1f} images/s {about}", flush=True)


def gpu():
    if not shutil.which("nvidia-smi"):
        return "unknown"
    query = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    return (subprocess.run(query, capture_output=True, text=True).stdout.strip() or "unknown").splitlines()[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--count", type=int, default=512)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--json")
    parser.add_argument("--trace", help="of a last run, `gray, from RGB` of the JPEGs on the GPU")
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    photos = sorted(glob.glob(os.path.join(options.folder, "*.jpg")))
    if not photos:
        sys.exit(f"no photographs in {options.folder}")
    rows = []
    with workplace() as folder:
        run = Run(folder)
        for kind in ("jpg", "png"):
            whole, part = fill(folder, photos, kind, options.count), fill(folder, photos, kind, options.count // 8)
            for work in WORK:
                if kind == "png" and work != "gray":
                    continue
                rows.append(measure(options.program, run, work, kind, whole, part, options.repeats))
                show(rows[-1])
            if kind == "jpg" and options.trace:
                run.ours(options.program, "gray, from RGB", "cuda", part, ["--trace", options.trace])
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"gpu": gpu(), "cores": len(os.sched_getaffinity(0)), "count": options.count, "photos": len(photos),
                       "jpeg_bytes": sum(os.path.getsize(p) for p in photos) // len(photos), "commit": options.commit,
                       "date": time.strftime("%Y-%m-%d"), "results": rows}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
