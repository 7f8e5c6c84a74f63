#!/usr/bin/env python3
"""nvJPEG on a GPU: its pixels beside libjpeg's, and directories at full speed beside OpenCV and nvJPEG by itself.

    tests/gpu/nvjpeg.py parity GPUIMG
    tests/gpu/nvjpeg.py bench GPUIMG FOLDER [--large FILE] [--raw GPU_BENCH_NVJPEG] [--kept GPU_BENCH_FILES] [--count N]
                              [--repeats N] [--json FILE] [--commit C]

Without nvJPEG both exit 77. parity makes images of several sizes and samplings; FOLDER holds photographs of 1080p as JPEG, FILE is
one of 8K. Runs take turns, and the shortest counts; the goals are 2 times OpenCV on as many threads
as there are cores, and 0.9 of nvJPEG by itself, whose start is not counted, so that the GPU's is left out of ours there, too.
--kept is a program that keeps its context over several passes, of which the first, with the GPU's start, does not count: what
a service sees, and what compares with nvJPEG by itself and with OpenCV, whose starts are not counted, either.
--count is for the smaller directory of two; the other has eight times as many."""
import argparse
import concurrent.futures
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from batch import Run, best, fill, gpu, workplace

SKIPPED = 77
PASSES, PASSES_OF_ONE = 8, 24  # the engine's decoders are there after four images of 8K
GOALS = {"opencv": 2.0, "raw": 0.9}
LUMA_LEVELS, COLOUR_DB, ENCODED_DB, SIZE = 3, 38, 0.7, 0.15


def available(program):
    said = subprocess.run([program, "info"], capture_output=True, text=True).stdout
    line = next((text for text in said.splitlines() if text.strip().startswith("nvJPEG")), "nvJPEG: not built")
    print(line.strip(), flush=True)
    return "(libnvjpeg" in line and "cuda:0" in said


def gpuimg(program, *args):
    done = subprocess.run([program, *args], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{args}: exit {done.returncode}\n{done.stderr}")
    return done.stderr


# ---- parity ---------------------------------------------------------------------------------------------------------

def picture(width, height, seed):
    """Smooth shapes, edges and some noise, as photographs have them."""
    import cv2
    import numpy as np
    rng = np.random.default_rng(seed)
    coarse = rng.integers(20, 236, (max(2, height // 40), max(2, width // 40), 3), np.uint8)
    image = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
    cv2.circle(image, (width // 2, height // 2), max(1, min(width, height) // 4), (240, 30, 60), -1, cv2.LINE_AA)
    return np.clip(image + rng.normal(0, 3, image.shape), 0, 255).astype(np.uint8)


def make_files(program, folder):
    import cv2
    for i, (width, height) in enumerate([(1, 1), (17, 31), (640, 480), (1001, 777), (1920, 1080), (4000, 3001)]):
        image = picture(width, height, i)
        png = os.path.join(folder, f"png/{i}.png")
        cv2.imwrite(png, image)
        cv2.imwrite(os.path.join(folder, f"jpg/{i}_gray.jpg"), cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
        cv2.imwrite(os.path.join(folder, f"jpg/{i}_restarts.jpg"), image, [cv2.IMWRITE_JPEG_RST_INTERVAL, 4])
        for chroma in ("420", "422", "444"):
            gpuimg(program, "blur", "--radius", "0", "-q", "--device", "cpu", "--subsampling", chroma, "--quality", str(70 + 5 * i),
                   png, os.path.join(folder, f"jpg/{i}_{chroma}.jpg"))


def psnr(a, b):
    import numpy as np
    error = np.mean((a.astype(float) - b.astype(float)) ** 2)
    return 99.0 if error == 0 else 10 * np.log10(255 ** 2 / error)


def compare_decoded(program, folder, args, check):
    import cv2
    import numpy as np
    failures, worst, by_device, out = 0, None, 0, tempfile.mkdtemp(dir=folder)
    common = ["--format", "png", "--png-level", "1", os.path.join(folder, "jpg")]
    gpuimg(program, *args, "-q", "--device", "cpu", *common, os.path.join(out, "cpu"))
    said = gpuimg(program, *args, "-v", "--device", "cuda", "--codec", "nvjpeg", *common, os.path.join(out, "gpu"))
    left = [line for line in said.splitlines() if "decoded on the CPU" in line]
    for name in sorted(os.listdir(os.path.join(out, "cpu"))):
        a, b = (cv2.imread(os.path.join(out, side, name), cv2.IMREAD_UNCHANGED) for side in ("cpu", "gpu"))
        levels, db = int(np.abs(a.astype(int) - b.astype(int)).max()), psnr(a, b)
        worst = max(worst or (0, 99), (levels, -db))
        by_device += 1
        if not check(levels, db):
            failures += 1
            print(f"{' '.join(args)}: {name} differs by {levels} levels, {db:.1f} dB", flush=True)
    print(f"{' '.join(args)}: {by_device} images, at most {worst[0]} levels apart; {len(left)} decoded on the CPU", flush=True)
    for line in left[:5]:
        print(f"    {line}")
    shutil.rmtree(out)
    return failures + (len(left) > 0)


def compare_encoded(program, folder, args, options):
    """Files of the same pixels: as near to them as libjpeg's, and about as large."""
    import cv2
    failures, sizes, out = 0, [0, 0], tempfile.mkdtemp(dir=folder)
    common = ["--format", "jpg", *options, os.path.join(folder, "png")]
    gpuimg(program, *args, "-q", "--device", "cpu", "--format", "png", os.path.join(folder, "png"), os.path.join(out, "real"))
    gpuimg(program, *args, "-q", "--device", "cpu", *common, os.path.join(out, "cpu"))
    said = gpuimg(program, *args, "-v", "--device", "cuda", "--codec", "nvjpeg", *common, os.path.join(out, "gpu"))
    failures += "encoded on the CPU" in said
    for name in sorted(os.listdir(os.path.join(out, "real"))):
        real = cv2.imread(os.path.join(out, "real", name), cv2.IMREAD_UNCHANGED)
        found = []
        for i, side in enumerate(("cpu", "gpu")):
            path = os.path.join(out, side, name.replace(".png", ".jpg"))
            found.append(cv2.imread(path, cv2.IMREAD_UNCHANGED))
            sizes[i] += os.path.getsize(path)
        if found[1] is None or found[1].shape != real.shape or not psnr(real, found[1]) >= psnr(real, found[0]) - ENCODED_DB:
            failures += 1
            about = "unreadable" if found[1] is None else f"{psnr(real, found[1]):.1f} dB, libjpeg's {psnr(real, found[0]):.1f}"
            print(f"{' '.join(args)} {' '.join(options)}: {name}: {about}", flush=True)
    ratio = sizes[1] / sizes[0]
    print(f"{' '.join(args)} {' '.join(options)}: {ratio:.3f} of libjpeg's bytes", flush=True)
    shutil.rmtree(out)
    return failures + (not abs(ratio - 1) <= SIZE)


def compare_repeats(program, folder, args, check):
    """Copies of each file, of which the first are done without the engine for JPEG and most of the others by it."""
    import cv2
    import numpy as np
    many, out = (os.path.join(folder, name + args[0]) for name in ("many", "many-out"))
    os.makedirs(many)
    for name in os.listdir(os.path.join(folder, "jpg")):
        for i in range(24 if name[0] in "0123" else 0):
            os.link(os.path.join(folder, "jpg", name), os.path.join(many, f"{i:02}-{name}"))
    gpuimg(program, *args, "-q", "--device", "cuda", "--codec", "nvjpeg", "--format", "png", "--png-level", "1", many, out)
    groups = {}
    for name in sorted(os.listdir(out)):
        groups.setdefault(name[3:], []).append(cv2.imread(os.path.join(out, name), cv2.IMREAD_UNCHANGED).astype(int))
    worst, differ, failures = 0, 0, 0
    for images in groups.values():
        pairs = [(int(np.abs(image - images[0]).max()), psnr(image, images[0])) for image in images]
        levels, db = max(p[0] for p in pairs), min(p[1] for p in pairs)
        worst, differ, failures = max(worst, levels), differ + (levels > 0), failures + (not check(levels, db))
    print(f"{' '.join(args)}: {differ} of {len(groups)} files differ between decoders, by at most {worst} levels", flush=True)
    return failures


def parity(options):
    program = options.program
    with tempfile.TemporaryDirectory() as folder:
        for name in ("png", "jpg"):
            os.makedirs(os.path.join(folder, name))
        make_files(program, folder)
        jobs = [lambda: compare_decoded(program, folder, ["gray"], lambda levels, db: levels <= LUMA_LEVELS)]
        # As RGB: at edges of colour it depends on how chroma is interpolated.
        jobs += [lambda radius=radius: compare_decoded(program, folder, ["blur", "--radius", radius],
                                                       lambda levels, db: db >= COLOUR_DB) for radius in ("0", "1")]
        jobs += [lambda args=args, more=more: compare_encoded(program, folder, args, more)
                 for args in (["gray"], ["blur", "--radius", "1"])
                 for more in ([], ["--quality", "60"], ["--optimize"], ["--subsampling", "444"], ["--subsampling", "422"])]
        jobs += [lambda: compare_repeats(program, folder, ["gray"], lambda levels, db: levels <= LUMA_LEVELS),
                 lambda: compare_repeats(program, folder, ["blur", "--radius", "0"], lambda levels, db: db >= COLOUR_DB)]
        # Starting a GPU is most of each.
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            failures = sum(pool.map(lambda job: job(), jobs))
    print(f"{failures} failures")
    return failures > 0


# ---- speed ----------------------------------------------------------------------------------------------------------

def ours(run, program, source, codec, device):
    found = run.ours(program, "gray", device, source, ["--codec", codec])
    started = found.get("device_started_s") or 0
    found["after_start_per_second"] = found["stats"]["images"] / max(1e-9, found["seconds"] - started)
    return found


def raw(program, source, folder, threads, mode, batch):
    out = os.path.join(folder, "raw")
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    started = time.monotonic()
    done = subprocess.run([program, source, out, str(threads), mode, str(batch)], capture_output=True, text=True)
    if done.returncode:
        print(f"    nvJPEG, {mode}, {threads} threads, batches of {batch}: exit {done.returncode} {done.stderr.strip()}")
        return None
    rate, start = done.stdout.splitlines()
    return {"seconds": time.monotonic() - started, "images_per_second": float(rate), "start": start, "mode": mode, "batch": batch,
            "threads": threads}


def kept(program, source, folder, codec, device, workers=0):
    """The median of the passes after the first."""
    out, count = os.path.join(folder, "kept"), len(os.listdir(source))
    passes = PASSES if count > 1 else PASSES_OF_ONE
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    done = subprocess.run([program, source, out, device, codec, str(passes), str(workers)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{program}, {codec}: exit {done.returncode} {done.stderr.strip()}")
    rates = [float(line) for line in done.stdout.split()]
    rate = statistics.median(rates[1:])
    return {"seconds": count / rate, "images_per_second": rate, "passes": rates}


def show(name, found):
    after = f"{found['after_start_per_second']:8.1f} from the GPU's first work on" if "after_start_per_second" in found else ""
    print(f"    {name:34} {found['seconds']:7.3f} s {found['images_per_second']:8.1f} images/s {after}", flush=True)


def tools_of(options, folder, source):
    """What is timed, in turns: whole commands, one process that goes on, and others."""
    cores, run = len(os.sched_getaffinity(0)), Run(folder)
    tools = {"nvjpeg": lambda: ours(run, options.program, source, "nvjpeg", "cuda"),
             "auto-fast": lambda: ours(run, options.program, source, "auto-fast", "cuda"),
             "auto-fast, auto": lambda: ours(run, options.program, source, "auto-fast", "auto"),
             "cpu": lambda: ours(run, options.program, source, "auto", "cpu"),
             "opencv": lambda: run.opencv(source, cores)}
    for codec, device, workers in [("nvjpeg", "cuda", 0), ("auto-fast", "cuda", 0), ("auto", "cpu", 0)] if options.kept else []:
        tools[f"kept: {codec} on {device} x {workers or cores}"] = (
            lambda c=codec, d=device, w=workers: kept(options.kept, source, folder, c, d, w))
    for threads, mode, batch in [(cores, "single", 1), (cores, "batched", 4), (2, "batched", 64)] if options.raw else []:
        tools[f"nvJPEG {mode} x {threads}, by {batch}"] = (
            lambda t=threads, m=mode, b=batch: raw(options.raw, source, folder, t, m, b))
    return tools


def judge(row):
    """Whole commands beside OpenCV, and what goes on beside OpenCV and nvJPEG, which do, too."""
    def best_rate(*begin):
        return max((r["images_per_second"] for name, r in row.items() if name.startswith(begin)), default=None)
    opencv, raws = row["opencv"]["images_per_second"], best_rate("nvJPEG")
    after = max(r.get("after_start_per_second", 0) for name, r in row.items() if name in ("nvjpeg", "auto-fast"))
    going_on = best_rate("kept: nvjpeg", "kept: auto-fast")
    row["times_opencv"] = best_rate("nvjpeg", "auto-fast") / opencv
    row["kept_times_opencv"] = going_on and going_on / opencv
    row["of_raw"] = raws and after / raws
    row["kept_of_raw"] = raws and going_on and going_on / raws
    for name, goal in (("times_opencv", "opencv"), ("kept_times_opencv", "opencv"), ("of_raw", "raw"), ("kept_of_raw", "raw")):
        if row[name]:
            print(f"    {name:34} {row[name]:.2f} (goal {GOALS[goal]})", flush=True)


def measure(options, folder, source, what):
    tools = tools_of(options, folder, source)
    found = {name: [] for name in tools}
    for _ in range(options.repeats):
        for name, tool in tools.items():
            result = tool()
            if result:
                found[name].append(result)
    print(what, flush=True)
    row = {name: best(runs) for name, runs in found.items() if runs}
    for name, result in row.items():
        show(name, result)
    judge(row)
    return {"work": what, **row}


def keep(options, rows):
    if not options.json:
        return
    with open(options.json, "w") as file:
        json.dump({"gpu": gpu(), "cores": len(os.sched_getaffinity(0)), "commit": options.commit, "date": time.strftime("%Y-%m-%d"),
                   "results": rows}, file, indent=1)


def bench(options):
    small = sorted(glob.glob(os.path.join(options.folder, "*.jpg")))
    large = [options.large] if options.large and os.path.exists(options.large) else []
    rows = []
    with workplace() as folder:
        work = [(small, count, f"gray of {count} JPEGs of 1080p") for count in (options.count, 8 * options.count)]
        work += [(large, 1, "gray of one 8K JPEG"), (large, 32, "gray of 32 8K JPEGs")]
        for photos, count, what in work:
            if not photos:
                continue
            place = os.path.join(folder, f"{count}_{len(rows)}")
            os.makedirs(place)
            rows.append(measure(options, folder, fill(place, photos, "jpg", count), what))
            keep(options, rows)
    if not rows:
        sys.exit(f"no photographs in {options.folder}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("parity").add_argument("program")
    timed = commands.add_parser("bench")
    timed.add_argument("program")
    timed.add_argument("folder")
    timed.add_argument("--large")
    timed.add_argument("--raw")
    timed.add_argument("--kept")
    timed.add_argument("--count", type=int, default=512)
    timed.add_argument("--repeats", type=int, default=1)
    timed.add_argument("--json")
    timed.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    try:
        import cv2  # noqa: F401
    except ImportError:
        print("OpenCV for Python is missing")
        return SKIPPED
    if not available(options.program):
        return SKIPPED
    return parity(options) if options.command == "parity" else bench(options)


if __name__ == "__main__":
    sys.exit(main())
