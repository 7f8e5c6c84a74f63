"""SIGINT and SIGTERM: 130 and 143, no temporaries, complete outputs only."""
import os
import signal
import subprocess
import time

import pytest

from conftest import decoded, encoded, pixels


def everything(directory):
    return [os.path.join(root, name) for root, _, names in os.walk(directory) for name in names]


@pytest.mark.parametrize("number,code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_batch_stops(gpuimg, tmp_path, number, code):
    (tmp_path / "in").mkdir()
    data = encoded(pixels(700, 700))
    for i in range(60):
        (tmp_path / f"in/{i:03}.png").write_bytes(data)
    process = gpuimg.start("gray", "in", "out")
    while process.poll() is None and not everything(tmp_path / "out"):
        time.sleep(0.001)
    process.send_signal(number)
    started = time.monotonic()
    err = process.communicate(timeout=60)[1].decode()
    assert process.returncode == code and time.monotonic() - started < 10, err
    outputs = everything(tmp_path / "out")
    assert len(outputs) < 60 and "not started" in err
    for path in outputs:
        assert not os.path.basename(path).startswith(".")
        with open(path, "rb") as file:
            assert decoded(file.read()).size == (700, 700)


@pytest.mark.parametrize("number,code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("args", [("gray", "-", "out.png"), ("hist", "-")])
def test_waiting_for_standard_input(gpuimg, tmp_path, number, code, args):
    process = gpuimg.start(*args, stdin=subprocess.PIPE)
    time.sleep(0.3)
    process.send_signal(number)
    assert process.wait(timeout=10) == code and everything(tmp_path) == []
    process.communicate()


def stuck(gpuimg, tmp_path):
    """A run whose two workers wait for pipes that nobody writes to."""
    for name in ("a", "b"):
        os.mkfifo(tmp_path / name)
    process = gpuimg.start("gray", "-j2", "a", "b", "out/")
    time.sleep(0.3)
    return process


def test_a_second_signal_ends_at_once(gpuimg, tmp_path):
    process = stuck(gpuimg, tmp_path)
    process.send_signal(signal.SIGINT)
    time.sleep(0.1)
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=10) == 130 and time.monotonic() - started < 1
    process.communicate()


def test_one_signal_is_enough_in_the_end(gpuimg, tmp_path):
    process = stuck(gpuimg, tmp_path)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=20) == 143
    process.communicate()


def test_ignored_signals_stay_ignored(gpuimg, image, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    process = gpuimg.start("gray", "pipe", "out.png",
                           preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    (tmp_path / "pipe").write_bytes(encoded(pixels()))
    assert process.wait(timeout=20) == 0 and (tmp_path / "out.png").exists()
    process.communicate()
