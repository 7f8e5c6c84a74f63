"""The CPU's stages beside OpenCV's functions on an 8K image: tests/bench/cpu.sh builds what it needs and runs it.

Each job is one call of gpuimg_run_image (or gpuimg_histogram_of_image) and the OpenCV call that does the same work, both
from memory into memory that is there already, in turn, so that what else the machine does meets both. Results are compared
before anything is timed.
"""

import argparse
import ctypes as c
import json
import pathlib
import statistics
import sys
import time

import cv2
import numpy as np

import machine
from machine import ROOT

sys.path.insert(0, str(ROOT / "samples"))

import landscape  # noqa: E402

WIDTH, HEIGHT = 7680, 4320
ROUNDS_MIN, ROUNDS_MAX = 5, 60

# ---- gpuimg -----------------------------------------------------------------------------------------------------------


class Error(c.Structure):
    _fields_ = [("status", c.c_int), ("place_offset", c.c_int), ("place_length", c.c_int), ("text", c.c_char * 500)]


class View(c.Structure):
    """gpuimg_image: the pixels of an array, which must live as long as this."""

    _fields_ = [("data", c.c_void_p), ("pitch_bytes", c.c_size_t), ("width", c.c_int), ("height", c.c_int),
                ("channels", c.c_int), ("sample", c.c_int)]

    def __init__(self, array):
        channels = array.shape[2] if array.ndim == 3 else 1
        super().__init__(array.ctypes.data, array.strides[0], array.shape[1], array.shape[0], channels, 0)


class Library:
    def __init__(self, path, threads):
        self.so = c.CDLL(str(path))
        self.so.gpuimg_histogram_counts.restype = c.POINTER(c.c_uint64)
        self.context = c.c_void_p()
        self.call("gpuimg_context_open", b"cpu", threads, c.byref(self.context))

    def call(self, name, *arguments):
        error = Error()
        if getattr(self.so, name)(*arguments, c.byref(error)):
            sys.exit(f"{name}: {error.text.decode()}")

    def pipeline(self, text):
        made = c.c_void_p()
        self.call("gpuimg_pipeline_parse", text.encode(), c.byref(made))
        return made

    def run(self, text, image, out):
        """A function that runs the pipeline; it returns `out`."""
        pipeline, source, result = self.pipeline(text), View(image), View(out)

        def call():
            self.call("gpuimg_run_image", self.context, pipeline, c.byref(source), c.byref(result))
            return out

        return call

    def histogram(self, image):
        source, channels = View(image), image.shape[2] if image.ndim == 3 else 1

        def call():
            made = c.c_void_p()
            self.call("gpuimg_histogram_of_image", self.context, None, c.byref(source), c.byref(made))
            counts = [np.ctypeslib.as_array(self.so.gpuimg_histogram_counts(made, i), (256,)).copy()
                      for i in range(channels)]
            self.so.gpuimg_histogram_free(made)
            return np.array(counts)

        return call

    def close(self):
        self.so.gpuimg_context_close(self.context)


# ---- jobs -------------------------------------------------------------------------------------------------------------


class Images:
    """A photograph-like picture in RGB, RGBA and gray, and room for results of either side."""

    def __init__(self):
        drawn = cv2.resize(landscape.draw(960, 540), (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC)
        noise = np.random.default_rng(8).normal(0, 3, (HEIGHT // 8, WIDTH, 3)).astype(np.float32)
        self.rgb = np.clip(np.rint(drawn + np.tile(noise, (8, 1, 1))), 0, 255).astype(np.uint8)
        self.gray = cv2.cvtColor(self.rgb, cv2.COLOR_RGB2GRAY)
        self.rgba = np.dstack([self.rgb, 255 - self.gray // 2])
        # Copies of the same arrays, so that both sides write to pages of the same size (NumPy asks for huge ones, but not
        # for zeros) that are there already.
        like = {1: self.gray, 3: self.rgb, 4: self.rgba}
        self.ours = {n: image.copy() for n, image in like.items()}
        self.theirs = {n: image.copy() for n, image in like.items()}
        self.between = self.gray.copy()


class Job:
    """`theirs` takes the image and where to put the result, and returns it; None: OpenCV has nothing of the kind.
    `goal`: the least ratio of the times; None: for information. `bound`: levels that results may differ by; None: they
    are not the same operation."""

    def __init__(self, name, pipeline, kind, theirs, goal, bound=0):
        self.name, self.pipeline, self.kind, self.theirs = name, pipeline, kind, theirs
        self.goal, self.bound = goal, bound

    def ours(self, library, images):
        image = getattr(images, self.kind)
        if self.pipeline == "hist":
            return library.histogram(image)
        channels = image.shape[2] if image.ndim == 3 else 1
        if self.pipeline.startswith("gray"):
            channels = 1
        return library.run(self.pipeline, image, images.ours[channels])


def gray(image, images):
    return cv2.cvtColor(image, cv2.COLOR_RGB2GRAY, dst=images.theirs[1])


def threshold(image, images):
    return cv2.threshold(image, 127, 255, cv2.THRESH_BINARY, dst=images.theirs[1 if image.ndim == 2 else 3])[1]


def gray_threshold(image, images):
    between = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY, dst=images.between)
    return cv2.threshold(between, 127, 255, cv2.THRESH_BINARY, dst=images.theirs[1])[1]


def histogram(image, images):
    channels = image.shape[2] if image.ndim == 3 else 1
    return np.array([cv2.calcHist([image], [i], None, [256], [0, 256])[:, 0] for i in range(channels)]).astype(np.uint64)


def equalize(image, images):
    return cv2.equalizeHist(image, dst=images.theirs[1])


def equalize_luma(image, images):
    """As is usual with OpenCV; it converts with rounding both ways, so that its colours are others."""
    parts = cv2.cvtColor(image, cv2.COLOR_RGB2YCrCb, dst=images.theirs[3])
    cv2.insertChannel(cv2.equalizeHist(cv2.extractChannel(parts, 0, dst=images.between), dst=images.between), parts, 0)
    return cv2.cvtColor(parts, cv2.COLOR_YCrCb2RGB, dst=images.theirs[3])


def box(image, images):
    return cv2.blur(image, (11, 11), dst=images.theirs[1 if image.ndim == 2 else 3], borderType=cv2.BORDER_REFLECT_101)


def gaussian(image, images, size=25):
    channels = image.shape[2] if image.ndim == 3 else 1
    return cv2.GaussianBlur(image, (size, size), 3, dst=images.theirs[channels], borderType=cv2.BORDER_REFLECT_101)


def gaussian_default(image, images):
    return gaussian(image, images, 0)


JOBS = [
    Job("gray, RGB", "gray", "rgb", gray, 1),
    Job("threshold, gray", "threshold 127", "gray", threshold, 1),
    Job("threshold, RGB", "threshold 127", "rgb", threshold, 1),
    Job("gray|threshold, RGB", "gray | threshold 127", "rgb", gray_threshold, 1),
    Job("histogram, gray", "hist", "gray", histogram, 1),
    Job("histogram, RGB", "hist", "rgb", histogram, 1),
    Job("equalize, gray", "equalize", "gray", equalize, 1, 1),
    Job("equalize luma, RGB", "equalize", "rgb", equalize_luma, 1, None),
    Job("box r=5, gray", "blur radius=5", "gray", box, 1),
    Job("box r=5, RGB", "blur radius=5", "rgb", box, 1),
    Job("Gaussian s=3 25x25, gray", "blur sigma=3", "gray", gaussian, 0.7, 2),
    Job("Gaussian s=3 25x25, RGB", "blur sigma=3", "rgb", gaussian, 0.7, 2),
    Job("Gaussian s=3 default size, gray", "blur sigma=3", "gray", gaussian_default, None, 3),
    Job("Gaussian s=3 default size, RGB", "blur sigma=3", "rgb", gaussian_default, None, 3),
    # OpenCV does not weigh colours by alpha.
    Job("Gaussian s=3 25x25, RGBA", "blur sigma=3", "rgba", gaussian, None, None),
    Job("heat steps=1, gray", "heat steps=1", "gray", None, None),
]

# ---- measuring --------------------------------------------------------------------------------------------------------


def compare(job, ours, theirs):
    """The largest difference of the results; ends the program where it is more than the job allows."""
    if job.bound is None or theirs is None:
        return None
    made, wanted = ours(), theirs()
    difference = int(cv2.absdiff(made, wanted).max() if made.dtype == np.uint8 else np.any(made != wanted))
    if difference > job.bound:
        sys.exit(f"{job.name}: results differ by {difference}, more than {job.bound}")
    return difference


def measure(calls, seconds):
    """Milliseconds of each call's runs, in turn; the first round is not counted."""
    times = [[] for _ in calls]
    begin = time.perf_counter()
    for turn in range(ROUNDS_MAX + 1):
        for call, found in zip(calls, times):
            start = time.perf_counter()
            call()
            found.append((time.perf_counter() - start) * 1000)
        if turn >= ROUNDS_MIN and time.perf_counter() - begin > seconds:
            break
    return [found[1:] for found in times]


def figures(times):
    return {"median_ms": round(statistics.median(times), 3), "min_ms": round(min(times), 3)}


def run_job(job, library, images, seconds):
    ours = job.ours(library, images)
    theirs = (lambda: job.theirs(getattr(images, job.kind), images)) if job.theirs else None
    difference = compare(job, ours, theirs)
    times = measure([call for call in (ours, theirs) if call], seconds)
    entry = {"job": job.name, "pipeline": job.pipeline, "rounds": len(times[0]), "gpuimg": figures(times[0])}
    if difference is not None:
        entry["largest_difference"] = difference
    if theirs:
        entry["opencv"] = figures(times[1])
        entry["ratio"] = round(entry["opencv"]["median_ms"] / entry["gpuimg"]["median_ms"], 2)
        entry["ratio_of_min"] = round(entry["opencv"]["min_ms"] / entry["gpuimg"]["min_ms"], 2)
    if job.goal is not None:
        entry["goal"] = job.goal
    return entry


def print_entry(entry, threads):
    line = f"{entry['job']:33} {threads:2}  {entry['gpuimg']['median_ms']:8.2f} {entry['gpuimg']['min_ms']:8.2f}"
    if "opencv" in entry:
        line += f"  {entry['opencv']['median_ms']:8.2f} {entry['opencv']['min_ms']:8.2f}"
        line += f"  {entry['ratio']:6.2f} {entry['ratio_of_min']:6.2f}"
    if "goal" in entry:
        met = max(entry["ratio"], entry["ratio_of_min"]) >= entry["goal"]
        line += f"   {entry['goal']:3}{'' if met else '  MISSED'}"
    print(line, flush=True)


# ---- all of it -------------------------------------------------------------------------------------------------------


def arguments():
    parser = argparse.ArgumentParser(description="Times the CPU's stages beside OpenCV's functions at 8K.")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "bench", help="where the library was built")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the figures, too")
    parser.add_argument("--jobs", default="", metavar="TEXT", help="only jobs with that in their name")
    parser.add_argument("--threads", type=int, nargs="+", help="numbers of threads: 1 and one for each core when left out")
    parser.add_argument("--seconds", type=float, default=2, help="for each job: %(default)s")
    return parser.parse_args()


def main():
    options = arguments()
    facts = {**machine.facts(options.build / "bin" / "gpuimg"), "opencv": cv2.__version__}
    print(f"{facts['cpu']}, {facts['cores']} cores, {facts['simd']}; {facts['compiler']}; OpenCV {facts['opencv']}")
    print(f"{WIDTH} x {HEIGHT}, 8 bits; ms; ratio: OpenCV's time by gpuimg's, more than 1 is faster than OpenCV")
    if facts["simd"] == "portable":
        print("The goals are for AVX2 and AVX-512; the portable level may miss them.")
    print(f"\n{'':33}    {'gpuimg':>17}  {'OpenCV':>17}  {'ratio of':>13}")
    print(f"{'job':29} threads {'median':>8} {'min':>8}  {'median':>8} {'min':>8}  {'median':>6} {'min':>6}  goal")
    images, runs = Images(), []
    for threads in options.threads or sorted({1, facts["cores"]}):
        library = Library(options.build / "lib" / "libgpuimg.so", threads)
        cv2.setNumThreads(threads)
        for job in JOBS:
            if options.jobs in job.name:
                entry = run_job(job, library, images, options.seconds)
                print_entry(entry, threads)
                runs.append({"threads": threads, **entry})
        library.close()
    if options.json:
        document = {**facts, "image": f"{WIDTH}x{HEIGHT} u8", "runs": runs}
        options.json.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
