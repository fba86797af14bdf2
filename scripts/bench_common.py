"""Shared by the benchmarks: timing of processes, rows of tables, scores of vectors."""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np


def wordgeom(args: list[str], watch: bool = False) -> float:
    """Run the wordgeom command; return its peak private memory in GB if `watch`, else 0."""
    command = [sys.executable, "-m", "wordgeom", *args]
    if watch:
        return watched(command)
    if subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode != 0:
        raise SystemExit(f"wordgeom {' '.join(args)} failed")
    return 0.0


def watched(command: Sequence[str]) -> float:
    """Run a command; return its peak private memory in GB."""
    process, peak = subprocess.Popen(command, stdout=subprocess.DEVNULL), [0.0]
    watcher = threading.Thread(target=follow, args=(process, peak))
    watcher.start()
    watcher.join()
    if process.wait() != 0:
        raise SystemExit(f"{' '.join(command)} failed")
    return peak[0]


def follow(process: subprocess.Popen[bytes], peak: list[float]) -> None:
    """Record the peak RssAnon + RssShmem of a process, in GB, until it ends."""
    while process.poll() is None:
        try:
            lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        except OSError:
            return
        sizes = [int(line.split()[1]) for line in lines if line.startswith(("RssAnon", "RssShmem"))]
        peak[0] = max(peak[0], sum(sizes) * 1024 / 1e9)
        time.sleep(0.005)


def paired(
    ours: Callable[[], object], theirs: Callable[[], object] | None, rounds: int
) -> tuple[list[float], list[float]]:
    """Time two functions alternately, after one warm-up call of ours."""
    ours()
    mine, other = [], []
    for _ in range(rounds):
        mine.append(seconds(ours))
        if theirs is not None:
            other.append(seconds(theirs))
    return mine, other


def seconds(function: Callable[[], object]) -> float:
    """Return the duration of a call in seconds."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def row(name: str, ours: list[float], other: str, theirs: list[float], note: str) -> None:
    """Print a row of a table: medians, their ratio, a note."""
    mine = statistics.median(ours)
    cells = [name, f"{mine:.2f} ({min(ours):.2f}–{max(ours):.2f})", other]
    if theirs:
        median = statistics.median(theirs)
        range_ = f" ({min(theirs):.2f}–{max(theirs):.2f})" if len(theirs) > 1 else ""
        cells += [f"{median:.2f}{range_}", f"{median / mine:.2f}"]
    else:
        cells += ["not measured" if other else "", ""]
    print("| " + " | ".join([*cells, note]) + " |", flush=True)


def machine() -> str:
    """Return the processor, the number of usable cores, and the versions."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    cpu = models[0] if models else platform.processor()
    cores = len(os.sched_getaffinity(0))
    return f"{cpu}, {cores} cores, Python {platform.python_version()}, NumPy {np.__version__}"


def scores(path: Path, sets: Sequence[str] = ()) -> str:
    """Return main scores with intervals and coverage on gensim's sets, then on `sets`."""
    import wordgeom as wg
    from wordgeom.evaluation.sets import gensim_sets

    report = wg.score(path, [*gensim_sets(), *sets], resamples=1000)
    main = {score.name: score for score in reversed(report.scores)}
    ordered = (main[name] for name in dict.fromkeys(score.name for score in report.scores))
    return "; ".join(
        f"{s.name} {s.value:.3f} [{s.low:.3f}, {s.high:.3f}] ({s.used}/{s.total})" for s in ordered
    )
