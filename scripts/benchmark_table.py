#!/usr/bin/env python3
"""The tables of measured figures in README.md, made from docs/benchmarks/*.json: benchmark_table.py [--check]

h200.json is what tests/gpu/run wrote on a machine with that GPU, cpu.json what tests/bench/cpu.sh wrote; README shows
the rows that are named below, between its markers. --check changes nothing and fails when README says anything else.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
BEGIN, END = "<!-- benchmarks -->\n", "<!-- end of benchmarks -->\n"
CPU_ROWS = ("gray, RGB", "gray|threshold, RGB", "histogram, RGB", "equalize, gray", "box r=5, RGB",
            "Gaussian s=3 25x25, RGB")
GPU_ROWS = {  # ours: what it is called here, and the row of the vendor's library beside it
    "gray 601, RGB u8": ("gray, RGB", None),
    "gray | threshold, RGB u8": ("gray and threshold in one pass, RGB", None),
    "hist, gray u8, photo-like": ("histogram, gray photo", "CUB hist, gray u8, photo-like"),
    "box r=15, gray u8": ("box r=15, gray", "NPP box r=15, gray u8"),
    "Gaussian s=3, gray u8": ("Gaussian s=3, gray", "NPP Gaussian 15x15, gray u8"),
}


def load(name):
    return json.loads((ROOT / "docs/benchmarks" / name).read_text())


def cpu_table(figures):
    runs = {r["job"]: r for r in figures["runs"] if r["threads"] == figures["cores"]}
    yield (f"On {figures['cores']} cores of an {figures['cpu']} ({figures['simd']}, {figures['date']}, commit "
           f"{figures['commit'][:7]}), {figures['image']}, decoding and encoding not counted; `tests/bench/cpu.sh`:\n\n")
    yield f"| work | gpuimg, ms | OpenCV {figures['opencv']}, ms | times as fast |\n|---|---|---|---|\n"
    for row in CPU_ROWS:
        run = runs[row]
        job = row.replace("|", " and ")
        yield f"| {job} | {run['gpuimg']['median_ms']:.1f} | {run['opencv']['median_ms']:.1f} | {run['ratio']:.1f} |\n"


def gpu_table(figures):
    results = {r["name"]: r for r in figures["results"]}
    yield (f"Kernels alone on one {figures['gpu']} (driver {figures['driver']}, CUDA {figures['toolkit']}, "
           f"{figures['date'][:10]}, commit {figures['commit'][:7]}), the same image size; `tests/gpu/run`:\n\n")
    yield "| work | ms | of the speed of a copy (histogram: a read) | vendor's library, ms |\n|---|---|---|---|\n"
    for name, (shown, vendor) in GPU_ROWS.items():
        r = results[name]
        beside = f"{results[vendor]['ms']:.3f} ({vendor.split(',')[0]})" if vendor else ""
        yield f"| {shown} | {r['ms']:.3f} | {r['percent_of_copy']:.0f} % | {beside} |\n"


def main():
    text = README.read_text()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    tables = "".join(cpu_table(load("cpu.json"))) + "\n" + "".join(gpu_table(load("h200.json")))
    made = head + BEGIN + "\n" + tables + "\n" + END + tail
    if made == text:
        return 0
    if "--check" in sys.argv[1:]:
        print("README.md does not show docs/benchmarks: run scripts/benchmark_table.py")
        return 1
    README.write_text(made)
    return 0


sys.exit(main())
