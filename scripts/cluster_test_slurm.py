"""Run jobs, and workers of Dask, on a real Slurm cluster of one node.

    scripts/cluster_test slurm [--megabytes 20] [--shards 4] [--tmp-dir DIR]

A text is counted in shards and trained on, by what `wordgeom jobs --slurm` prints. One task gets
kill −9, and another one is stopped until it comes near its time limit and Slurm asks it to end.
Both must be requeued and go on. The same is then done with --scheduler and a file for dask-
jobqueue, whose SLURMCluster starts the workers as jobs. The counts and the vectors must have the
digests of a single run each time. Skipped, with the reason, where Slurm is not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from slurm_cluster import SlurmCluster, missing

_PATIENCE = 280.0  # seconds for all jobs
_KILLED, _LATE = 1, 2  # tasks of the count
_CONFIG = """
[build-cooc]
corpus = "text.txt"
window = 10

[train]
matrix = "cooc"
method = "pmi-eigs"
dim = 20
"""


def write_text(path: Path, size: int) -> None:
    """Write a text of `size` bytes: words by Zipf's law, in long lines."""
    draw = np.random.default_rng(1)
    with path.open("w", encoding="ascii") as out:
        while out.tell() < size:
            words = draw.zipf(1.2, 20_000) % 50_000
            out.write(" ".join(f"w{word:x}" for word in words.tolist()) + "\n")
        out.truncate(size)


def run(folder: Path, *arguments: str) -> str:
    """Run wordgeom in a directory and return what it prints."""
    command = [sys.executable, "-m", "wordgeom", *arguments]
    return subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def digests(folder: Path) -> list[str]:
    """Return the digests of the counts and of the vectors."""
    return [run(folder, "info", name, "--digest").strip() for name in ("cooc", "vectors.bin")]


def process_of(folder: Path, shard: str) -> int | None:
    """Return the process that counts a shard in a directory, None where there is none."""
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            here = os.path.samefile(entry / "cwd", folder)
        except OSError:  # no process, or one that has ended
            continue
        counts = b"--read-vocab" in words and words[:1] != [b"/bin/bash"]
        if here and counts and shard.encode() in words:
            return int(entry.name)
    return None


def asked_to_end(process: int) -> bool:
    """Return whether a stopped process has a TERM that it has not seen yet."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    pending = sum(int(line.split()[1], 16) for line in lines if line.startswith("ShdPnd"))
    return bool(pending >> (signal.SIGTERM - 1) & 1)


_SMALL = Path(__file__).with_name("small_blocks.py")
_COUNT = ["build-cooc", "text.txt", "--window", "10", "-o", "cooc"]
_TRAIN = ["train", "cooc", "--method", "pmi-eigs", "--dim", "20", "-o", "vectors.bin"]


class Trouble:
    """Kills one task of the count, and stops another one until Slurm asks it to end.

    count: the number of the job array.
    """

    def __init__(self, cluster: SlurmCluster, folder: Path, shards: int, count: str) -> None:
        self._cluster, self._folder, self._shards = cluster, folder, shards
        self._late_task = f"{count}_{_LATE}"
        self._stopped: int | None = None
        self.killed = self.late = False

    def step(self) -> None:
        """Do what is due."""
        if not self.killed and (process := process_of(self._folder, f"{_KILLED}/{self._shards}")):
            os.kill(process, signal.SIGKILL)
            self.killed = True
        if self._stopped is None:
            self._stopped = process_of(self._folder, f"{_LATE}/{self._shards}")
            if self._stopped is not None:
                os.kill(self._stopped, signal.SIGSTOP)
                self._limit_time(1)
        elif not self.late and asked_to_end(self._stopped):
            self._limit_time(10)
            os.kill(self._stopped, signal.SIGCONT)
            self.late = True

    def end(self) -> None:
        """Let a stopped process go on."""
        if self._stopped is not None and not self.late:
            os.kill(self._stopped, signal.SIGCONT)

    def _limit_time(self, minutes: int) -> None:
        self._cluster.ask("scontrol", "update", f"JobId={self._late_task}", f"TimeLimit={minutes}")


def run_jobs(cluster: SlurmCluster, folder: Path, shards: int) -> dict[str, str]:
    """Submit the jobs, make trouble, and wait; return the numbers of the jobs by name."""
    script = run(folder, "jobs", "x.toml", "--shards", str(shards), "--slurm", "--cpus", "1",
                 "--memory", "1", "--time", "10")  # fmt: skip
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**cluster.environment, "PATH": path}
    printed = subprocess.run(["bash", "-c", script], env=environment, check=True, text=True,
                             stdout=subprocess.PIPE).stdout  # fmt: skip
    numbers = dict(line.split("\t") for line in printed.splitlines())
    trouble = Trouble(cluster, folder, shards, numbers["count"])
    end = time.monotonic() + _PATIENCE
    try:
        while cluster.ask("squeue", "--noheader") and time.monotonic() < end:
            trouble.step()
            time.sleep(0.05)
    finally:
        trouble.end()
    if not (trouble.killed and trouble.late):
        raise RuntimeError("no task was killed, or none reached its time limit")
    return numbers


def check_jobs(cluster: SlurmCluster, folder: Path, numbers: dict[str, str]) -> None:
    """Raise RuntimeError for a job that failed, or a task that was not requeued."""
    jobs = cluster.jobs()
    for name, facts in jobs.items():
        if facts["JobState"] != "COMPLETED":
            logs = "\n".join(log.read_text() for log in sorted(folder.glob("wordgeom-*.log")))
            raise RuntimeError(f"job {name} is {facts['JobState']}\n{logs[-3000:]}")
    for task in (_KILLED, _LATE):
        restarts = jobs[f"{numbers['count']}_{task}"]["Restarts"]
        if restarts == "0":
            raise RuntimeError(f"task {task} of the count was not requeued")
        print(f"task {task} of the count: completed after {restarts} restarts")


def run_on_workers(cluster: SlurmCluster, folder: Path) -> None:
    """Count and train on workers that dask-jobqueue starts as jobs of the cluster."""
    settings = {"cores": 1, "memory": "1GB", "walltime": "00:20:00", "interface": "lo",
                "python": sys.executable, "log-directory": str(folder)}  # fmt: skip
    queue = folder / "workers.json"  # YAML, too
    queue.write_text(json.dumps({"jobs": 2, "jobqueue": {"slurm": settings}}))
    there = ["--scheduler", queue.name, "--threads", "1"]
    for line in (_COUNT, _TRAIN):
        command = [sys.executable, str(_SMALL), *line, *there]
        done = subprocess.run(command, cwd=folder, check=True, env=cluster.environment,
                              stderr=subprocess.PIPE, text=True, timeout=_PATIENCE)  # fmt: skip
        if "no work that is worth" in done.stderr:
            raise RuntimeError(f"{line[0]} computed nothing on the workers")


def main() -> int:
    """Run the test; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--megabytes", type=int, default=20, help="size of the text  [20]")
    parser.add_argument("--shards", type=int, default=4, help="tasks of the count  [4]")
    parser.add_argument("--tmp-dir", help="directory for the cluster and the text")
    given = parser.parse_args()
    if why := missing():
        print(f"skipped: {why}")
        return 0
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="wordgeom-slurm-", dir=given.tmp_dir) as name:
        folders = [Path(name, part) for part in ("single", "shared", "workers", "slurm")]
        for folder in folders:
            folder.mkdir()
        single, shared, workers, state = folders
        write_text(shared / "text.txt", given.megabytes * 10**6)
        for folder in (single, workers):
            (folder / "text.txt").symlink_to(shared / "text.txt")
        for folder in (single, shared):
            (folder / "x.toml").write_text(_CONFIG)
        run(single, "run", "x.toml")
        with SlurmCluster(state) as cluster:
            print(f"cluster ready after {time.monotonic() - start:.0f} s", flush=True)
            numbers = run_jobs(cluster, shared, given.shards)
            check_jobs(cluster, shared, numbers)
            run_on_workers(cluster, workers)
        for folder in (shared, workers):
            if digests(single) != digests(folder):
                raise RuntimeError(
                    f"the digests of {folder.name} differ from those of a single run"
                )
    seconds, what = time.monotonic() - start, f"{given.shards} shards and of two Dask workers"
    print(f"counts and vectors of {what} equal those of one run; {seconds:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
