"""What the system may deny a process: threads, and what its libraries make of that."""
import os
import resource
import shutil
import subprocess

import numpy as np
import pytest

from conftest import decoded, gray601, pixels

# The stack of a thread, by default, is as large as the limit of the main one: no thread can be started then.
NO_THREADS = (1 << 48, resource.RLIM_INFINITY)


@pytest.mark.parametrize("options", [[], ["-j", "1"], ["-j", "8"]])
def test_without_threads_the_work_is_done_by_one(gpuimg, image, tmp_path, options):
    if resource.getrlimit(resource.RLIMIT_STACK)[1] != resource.RLIM_INFINITY:
        pytest.skip("the limit on stacks cannot be raised here")
    array = image("in/a.png", pixels(700, 700))
    image("in/b.png", pixels(31, 17))
    result = gpuimg.ok("gray", *options, "in", "out",
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, NO_THREADS))
    assert result.err == "gpuimg: 2 done\n"
    assert (np.array(decoded((tmp_path / "out/a.png").read_bytes())) == gray601(array)).all()


# Stands in front of the C library and denies threads to the OpenMP runtime alone.
NO_TEAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *context) {
    int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = dlsym(RTLD_NEXT, "pthread_create");
    Dl_info caller;
    if (dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "omp")) return EAGAIN;
    return next(thread, attributes, start, context);
}
"""


def test_an_exit_of_the_openmp_runtime_leaves_no_temporary(gpuimg, image, tmp_path):
    compiler = shutil.which("cc")
    if gpuimg.sanitized or not compiler or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs a compiler, two cores and a program without a sanitizer")
    (tmp_path / "no_team.c").write_text(NO_TEAM)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", "no_team.so", "no_team.c", "-ldl"], cwd=tmp_path, check=True)
    image("a.png", pixels(700, 700))
    (tmp_path / "out").mkdir()
    result = gpuimg("gray", "a.png", "out/b.png", env={"LD_PRELOAD": str(tmp_path / "no_team.so")})
    if result.code == 0:
        pytest.skip("this runtime does without its threads")
    assert result.code == 1 and os.listdir(tmp_path / "out") == [], result
