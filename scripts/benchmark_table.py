#!/usr/bin/env python3
"""The tables of measured figures in README.md, made from docs/benchmarks/*.json: benchmark_table.py [--check]

h200.json, h200_matmul.json and h200_arrays.json are what tests/gpu/run wrote on a machine with that GPU (bench.json,
matmul.json, arrays.json there), h200_batch.json what tests/gpu/batch.py wrote there. cpu.json is what tests/bench/cpu.sh wrote, codecs.json
what tests/bench/codecs.sh wrote. README shows the rows that are named below, between its markers. --check
changes nothing and fails when README says anything else.
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
BEGIN, END = "<!-- benchmarks -->\n", "<!-- end of benchmarks -->\n"
CODEC_ROWS = ("gray, 1080p photo, PNG to PNG", "gray, 8K photo, PNG to PNG", "gray, 8K photo, JPEG to PNG",
              "gray, 8K photo, JPEG to JPEG", "gray, 4K screenshot, PNG to PNG", "gray, 4K chart, PNG to PNG",
              "gray and threshold, 8K photo, JPEG to PNG", "box r=5, 8K photo, JPEG to JPEG",
              "Gaussian s=3, 8K photo, JPEG to JPEG", "histogram, 8K photo, PNG", "gray, 64 photos of 1080p, PNG",
              "gray, 64 photos of 1080p, JPEG")
CPU_ROWS = ("gray, RGB", "gray|threshold, RGB", "histogram, RGB", "equalize, gray", "box r=5, RGB",
            "Gaussian s=3 25x25, RGB")
GPU_ROWS = {  # ours: what it is called here, and the row of the vendor's library beside it
    "gray 601, RGB u8": ("gray, RGB", None),
    "gray | threshold, RGB u8": ("gray and threshold in one pass, RGB", None),
    "threshold, gray u8": ("threshold, gray", "NPP threshold, gray u8"),
    "hist, gray u8, photo-like": ("histogram, gray photo", "CUB hist, gray u8, photo-like"),
    "box r=15, gray u8": ("box r=15, gray", "NPP box r=15, gray u8"),
    "Gaussian s=3, gray u8": ("Gaussian s=3, gray", "NPP Gaussian 15x15, gray u8"),
}


MATMUL_NAMES = ("naive", "tiled8", "tiled16", "tiled32", "fast", "cublas", "tf32-mma", "tf32-wgmma", "cublas-tf32")
ARRAY_ROWS = {  # job, algorithm: what it is called here
    ("reduce sum float32", "interleaved"): "sum of float32, `interleaved`",
    ("reduce sum float32", "sequential"): "sum of float32, `sequential`",
    ("reduce sum float32", "shuffle"): "sum of float32, `shuffle` (the default)",
    ("reduce sum int32", "shuffle"): "sum of int32, `shuffle`",
    ("scan sum float32", "kogge-stone"): "scan of float32, `kogge-stone`",
    ("scan sum float32", "brent-kung"): "scan of float32, `brent-kung`",
    ("scan sum float32", "lookback"): "scan of float32, `lookback`, the same bits each time",
    ("scan sum int32", "lookback"): "scan of int32, `lookback` (the default)",
}


def load(name):
    """The figures in that file; None where it has not been made."""
    file = ROOT / "docs/benchmarks" / name
    return json.loads(file.read_text()) if file.exists() else None


def codec_table(figures):
    runs = {(r["job"], r["cores"]): r for r in figures["runs"]}
    peers = ", ".join(f"{name} {version}" for name, version in figures["peers"].items())
    yield (f"From file to file on {figures['cores']} cores of an {figures['cpu']} ({figures['simd']}, {figures['date']}, "
           f"commit {figures['commit'][:7]}), with {figures['images']}, beside the fastest of {peers}; "
           f"`tests/bench/codecs.sh --one-core`:\n\n")
    yield ("| work | gpuimg, s | fastest peer, s | times as fast | on one core | bytes, of the peer's |\n"
           "|---|---|---|---|---|---|\n")
    for row in CODEC_ROWS:
        run, alone = runs[row, figures["cores"]], runs.get((row, 1))
        ours, best = run["tools"]["gpuimg"], run["tools"][run["best_peer"]]
        size = "" if row.startswith("histogram") else f"{100 * ours['bytes'] / best['bytes']:.0f} %"
        yield (f"| {row} | {ours['median_s']:.3f} | {best['median_s']:.3f} ({run['best_peer']}) | {run['ratio']:.1f} | "
               f"{format(alone['ratio'], '.1f') if alone else ''} | {size} |\n")


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
        beside = f"{results[vendor]['ms']:.3f} ({vendor.split(',')[0]})" if vendor in results else ""
        yield f"| {shown} | {r['ms']:.3f} | {r['percent_of_copy']:.0f} % | {beside} |\n"


def matmul_table(figures):
    sizes = sorted({r["n"] for r in figures["results"] if r["m"] == r["k"] == r["n"]})
    speed = {(r["name"], r["n"]): r for r in figures["results"] if r["m"] == r["k"] == r["n"]}
    yield (f"Products of n x n matrices of float32 on one {figures['gpu']} ({figures['date'][:10]}, commit "
           f"{figures['commit'][:7]}), in TFLOP/s, with the share of cuBLAS' speed of the same precision; "
           f"`tests/gpu/run`:\n\n")
    yield f"| n = | {' | '.join(str(n) for n in sizes)} |\n|{'---|' * (len(sizes) + 1)}\n"
    for name in MATMUL_NAMES:
        cells = [speed.get((name, n)) for n in sizes]
        if not any(cells):
            continue
        shown = [f"{r['tflops']:.1f} ({r['percent_of_cublas']:.0f} %)" if r else "" for r in cells]
        yield f"| `{name}` | {' | '.join(shown)} |\n"


def arrays_table(figures):
    results = {(r["job"], r["name"], r["log2_count"]): r for r in figures["results"]}
    yield (f"Reductions and scans of arrays in the memory of one {figures['gpu']} ({figures['date'][:10]}, commit "
           f"{figures['commit'][:7]}), in ms, with the share of CUB's speed; `tests/gpu/run`:\n\n")
    yield "| work | 2^20 elements | 2^24 | 2^28 |\n|---|---|---|---|\n"
    for (job, name), shown in ARRAY_ROWS.items():
        cells = [results[job, name, log2] for log2 in (20, 24, 28)]
        times = [f"{r['ms']:.4f} ({r['percent_of_cub']:.0f} %)" for r in cells]
        yield f"| {shown} | {' | '.join(times)} |\n"


BATCH_NAMES = {("gray", "jpg"): "gray of JPEGs, whose own luma it is: no work for the GPU",
               ("gray, from RGB", "jpg"): "gray of JPEGs by way of RGB", ("blur sigma=3", "jpg"): "Gaussian s=3 of JPEGs",
               ("gray", "png"): "gray of PNGs"}


def batch_table(figures):
    yield (f"Directories of {figures['count']} photographs of 1080p (JPEGs of {figures['jpeg_bytes'] / 1e6:.1f} MB on "
           f"average), from file to file in memory and the program's start included, with an {figures['gpu']} and {figures['cores']} "
           f"cores ({figures['date']}, commit {figures['commit'][:7]}); OpenCV on as many threads; `tests/gpu/batch.py`. "
           f"The last column is the run's time over that of its busiest resource, in every row the workers with their "
           f"codecs, and the same from the GPU's first work on, as its context takes a tenth of a second:\n\n")
    yield ("| work | on the GPU, images/s | on the CPU | OpenCV | GPU, -j 1 --streams 1 | GPU: time over the busiest |\n"
           "|---|---|---|---|---|---|\n")
    for r in figures["results"]:
        tools = ("cuda", "cpu", "opencv", "one_by_one")
        rates = [f"{r[tool]['images_per_second']:.0f}" if tool in r else "" for tool in tools]
        over = f"{r['cuda']['wall_over_busiest']:.2f}"
        if r["cuda"]["device_started_s"] > 0:
            over += f", {r['cuda']['after_start_over_busiest']:.2f}"
        yield f"| {BATCH_NAMES[r['work'], r['kind']]} | {' | '.join(rates)} | {over} |\n"


def main():
    text = README.read_text()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    sources = ((codec_table, "codecs.json"), (cpu_table, "cpu.json"), (gpu_table, "h200.json"),
               (matmul_table, "h200_matmul.json"), (arrays_table, "h200_arrays.json"),
               (batch_table, "h200_batch.json"))
    tables = "\n".join("".join(table(load(name))) for table, name in sources if load(name))
    made = head + BEGIN + "\n" + tables + "\n" + END + tail
    if made == text:
        return 0
    if "--check" in sys.argv[1:]:
        print("README.md does not show docs/benchmarks: run scripts/benchmark_table.py")
        return 1
    README.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
