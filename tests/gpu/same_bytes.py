#!/usr/bin/env python3
"""The same bytes whatever the workers, slots, streams, memory, bands, shares and order: a mix of sizes and formats goes
through a few pipelines again and again, each time with other settings, and is compared with one run on the CPU by one worker.

    tests/gpu/same_bytes.py GPUIMG [--device D] [--repeats N] [--streams N] [--jobs N] [--seed N]

Wants nothing but Python: the images are made here."""
import argparse
import concurrent.futures
import hashlib
import os
import random
import struct
import subprocess
import sys
import tempfile
import time
import zlib

PIPELINES = ["gray", "gray linear | threshold otsu", "blur radius=3", "equalize | blur sigma=1.5 | gray"]
CHANNELS = {1: 0, 2: 4, 3: 2, 4: 6}  # colour types of PNG


def png(width, height, channels, bits, rng):
    """A gradient with noise."""
    size = channels * bits // 8
    step = rng.randrange(1, 9)
    rows = bytearray()
    for y in range(height):
        line = bytes((x * step // size + y * 2) & 255 for x in range(width * size))
        noise = rng.randbytes(len(line))
        rows += b"\0" + bytes(a ^ (b & 15) for a, b in zip(line, noise))

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", width, height, bits, CHANNELS[channels], 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(rows), 1)) +
            chunk(b"IEND", b""))


def make_images(program, folder, rng):
    """Thumbnails of all kinds, JPEGs among them, and a larger one."""
    os.makedirs(folder)
    sizes = [(1, 1), (1, 77), (90, 1), (17, 31), (64, 64)]
    sizes += [(rng.randrange(40, 320), rng.randrange(40, 320)) for _ in range(16)]
    for i, (width, height) in enumerate(sizes + [(900, 700)]):
        channels, bits = rng.choice((1, 2, 3, 3, 4)), rng.choice((8, 8, 16))
        path = os.path.join(folder, f"{i:02}.png")
        with open(path, "wb") as file:
            file.write(png(width, height, channels, bits, rng))
        if i % 3 == 2:  # as it is, but for the format
            run(program, "blur radius=0", ["--device", "cpu", "--format", "jpg"], [path], path[:-3] + "jpg")
            os.unlink(path)


def digests(folder):
    found = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


def run(program, pipeline, options, inputs, out, rows=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith("GPUIMG_")}
    if rows:
        env["GPUIMG_BAND_ROWS"] = str(rows)
    command = [program, "run", pipeline, "-q", *options, *inputs, out]
    done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=60)
    if done.returncode or done.stderr:
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")


def settings(rng, streams):
    options = ["-j", str(rng.randrange(1, 9)), "--streams", str(streams or rng.randrange(1, 9))]
    if rng.random() < 0.6:
        options += ["--slots", str(rng.randrange(1, 9))]
    if rng.random() < 0.3:
        options += ["--max-memory", f"{rng.choice((64, 300, 3000))}K"]
    return options, rng.choice((None, None, 1, 7, 64))


def repeat(program, pipeline, device, folder, rng, streams):
    """One run, or one for each share, in the order of the directory or any other; returns what it was."""
    options, rows = settings(rng, streams)
    shares = rng.choice((1, 1, 2, 3))
    if rows == 1 and "sigma" in pipeline:
        rows = 5
    with tempfile.TemporaryDirectory() as work:
        out, names = os.path.join(work, "out"), os.path.join(work, "names")
        inputs = [folder]
        if rng.random() < 0.5:
            listed = [os.path.join(folder, name) for name in os.listdir(folder)]
            rng.shuffle(listed)
            with open(names, "w") as file:
                file.write("\n".join(listed))
            inputs = ["--files-from", names]
        for i in range(shares):
            share = ["--shard", f"{i + 1}/{shares}"] if shares > 1 else []
            run(program, pipeline, ["--device", device, *options, *share], inputs, out, rows)
        return digests(out), f"{pipeline}: {' '.join(options)}, bands of {rows} rows, {shares} shares, {inputs[0]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--streams", type=int, default=0, help="0: any")
    parser.add_argument("--jobs", type=int, default=1, help="repeats at once")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as work:
        folder = os.path.join(work, "in")
        make_images(options.program, folder, random.Random(options.seed))
        wanted = []
        for i, pipeline in enumerate(PIPELINES):
            run(options.program, pipeline, ["--device", "cpu", "-j", "1"], [folder], os.path.join(work, f"{i}"))
            wanted.append(digests(os.path.join(work, f"{i}")))
            assert len(wanted[-1]) == len(os.listdir(folder))

        def differ(i):
            which, rng = i % len(PIPELINES), random.Random(f"{options.seed} {i}")
            got, what = repeat(options.program, PIPELINES[which], options.device, folder, rng, options.streams)
            wrong = sorted(n for n in wanted[which].keys() | got if got.get(n) != wanted[which].get(n))
            return wrong and f"seed {options.seed}, repeat {i}: {', '.join(wrong)} differ: {what}"
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for problem in pool.map(differ, range(options.repeats)):
                if problem:
                    print(problem)
                    return 1
    seconds = time.monotonic() - started
    print(f"{options.repeats} repeats of {len(wanted[0])} images on {options.device} alike, in {seconds:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
