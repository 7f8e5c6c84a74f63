"""What the system may deny a process: threads."""
import resource

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
