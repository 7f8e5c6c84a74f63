"""samples/slurm without Slurm: its jobs as shell scripts, with the variables that Slurm would set. tests/slurm/run.sh has
the real thing."""
import os
import pathlib
import shutil
import subprocess

import pytest

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / "samples"
SHARES = 3


@pytest.fixture
def job(tmp_path):
    """job(script, *args, task=I): runs it in a folder with images in in/, and a cut one if asked for."""
    (tmp_path / "in/sub").mkdir(parents=True)
    (tmp_path / "parts").mkdir()
    for i in range(6):
        shutil.copy(SAMPLES / "scan.png", tmp_path / f"in/{'sub/' if i % 2 else ''}{i}.png")
    path = f"{pathlib.Path(os.environ['GPUIMG']).resolve().parent}:{os.environ['PATH']}"

    def run(script, *args, task=1):
        variables = {"SLURM_ARRAY_TASK_ID": str(task), "SLURM_ARRAY_TASK_MIN": "1", "SLURM_ARRAY_TASK_MAX": str(SHARES),
                     "SLURM_ARRAY_TASK_COUNT": str(SHARES), "SLURM_ARRAY_TASK_STEP": "1", "PATH": path}
        return subprocess.run(["bash", SAMPLES / "slurm" / script, *args], cwd=tmp_path, check=False, text=True,
                              env={**os.environ, **variables}, capture_output=True)
    return run


def run_all(job):
    codes = [job("shard.sbatch", "in", "out", "parts", task=i).returncode for i in range(1, SHARES + 1)]
    return codes, job("merge.sbatch", str(SHARES), "parts")


def test_jobs_make_the_whole(job, tmp_path):
    codes, merge = run_all(job)
    assert codes == [0] * SHARES and merge.returncode == 0, merge
    assert sorted(p.name for p in (tmp_path / "out").rglob("*.png")) == [f"{i}.png" for i in range(6)]
    whole = subprocess.run([os.environ["GPUIMG"], "hist", "-q", "-r", "--total", "--format", "json", "in"], check=True,
                           cwd=tmp_path, capture_output=True).stdout
    assert (tmp_path / "parts/hist.json").read_bytes() == whole
    assert len((tmp_path / "parts/gray.jsonl").read_text().splitlines()) == 6


def test_what_failed_is_named(job, tmp_path):
    (tmp_path / "in/cut.png").write_bytes((SAMPLES / "scan.png").read_bytes()[:1000])
    codes, merge = run_all(job)
    assert sorted(codes) == [0, 0, 1] and merge.returncode == 1
    assert "cut.png" in merge.stdout and "--retry-failed parts/gray.jsonl" in merge.stderr


def test_a_part_that_is_missing(job):
    job("shard.sbatch", "in", "out", "parts", task=1)
    assert job("merge.sbatch", str(SHARES), "parts").returncode != 0
