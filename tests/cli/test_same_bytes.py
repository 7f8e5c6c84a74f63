"""The same bytes for any workers, slots, streams, memory, bands, shares and order."""
import os
import subprocess
import sys

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../gpu/same_bytes.py")


def test_fifty_repeats(gpuimg):
    repeats = 50 if not gpuimg.sanitized else 8
    done = subprocess.run([sys.executable, SCRIPT, gpuimg.path, "--repeats", str(repeats)], capture_output=True, text=True,
                          env=gpuimg.environment(), timeout=240)
    assert done.returncode == 0 and f"{repeats} repeats of 22 images on cpu alike" in done.stdout, done
