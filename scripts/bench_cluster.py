"""The gain from a second worker on Dask, beside that from a second thread of one process.

    scripts/bench cluster TEXT SPEECHES.tsv.gz [--rounds 3] [--work DIR]

Counts of TEXT, gbu's training on them and the drift test of SPEECHES (year, session, country and
speech, as in `scripts/bench drift`) run with 1 and 2 threads, and on a scheduler with 1 and 2
workers of one thread, which are connected before. The runs alternate. Each row has medians, the
gain from the second thread (t₁ / t₂) and from the second worker, the second gain as a share of the
first, and the time of two threads as a share of that of two workers. The bytes of all outputs of a
command must be the same.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bench_common import machine
from bench_drift import FIELDS
from dask_cluster import DaskCluster

_WAYS = ("1 thread", "2 threads", "1 worker", "2 workers")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("text", help="a text to count")
    parser.add_argument("speeches", help="a file as above")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", help="directory for temporary files")
    args = parser.parse_args()
    print(f"{machine()}; {time.strftime('%F')}; {args.rounds} rounds\n")
    print(f"| command | {' | '.join(_WAYS)} | gain of threads | of workers | share | time |")
    print("|---|" + "---|" * (len(_WAYS) + 4), flush=True)
    with tempfile.TemporaryDirectory(dir=args.work) as name:
        folder = Path(name)
        for number in (1, 2):
            (folder / f"dask-{number}").mkdir()
        with DaskCluster(folder / "dask-1", 1) as one, DaskCluster(folder / "dask-2", 2) as two:
            addresses = one.address, two.address
            for command, output in _commands(args, folder):
                _row(command, output, addresses, args.rounds)


def _commands(args: argparse.Namespace, folder: Path) -> list[tuple[list[str], Path | None]]:
    """Return commands and what they write; what they read is made here."""
    counts, vectors, model = folder / "cooc", folder / "vectors.bin", folder / "model"
    dtm = str(folder / "dtm")
    _run(["build-dtm", args.speeches, *FIELDS, "--min-count", "100", "-o", dtm])
    _run(["train", dtm, "--method", "dlsa", "-o", str(model)])
    count = ["build-cooc", args.text, "--tokeniser", "whitespace", "-o", str(counts)]
    train = ["train", str(counts), "--method", "gbu", "-o", str(vectors)]
    return [(count, counts), (train, vectors), (["drift", str(model), "--json"], None)]


def _row(command: list[str], output: Path | None, addresses: tuple[str, str], rounds: int) -> None:
    """Print the row of a command."""
    ends = [["--threads", "1"], ["--threads", "2"],
            *(["--threads", "1", "--scheduler", one] for one in addresses)]  # fmt: skip
    force = [] if output is None else ["--force"]
    times: list[list[float]] = [[] for _ in ends]
    digests = set()
    for _ in range(rounds):
        for taken, end in zip(times, ends, strict=True):
            start = time.perf_counter()
            printed = _run([*command, *force, *end])
            taken.append(time.perf_counter() - start)
            digests.add(_digest(output, printed))
    assert len(digests) == 1, f"the outputs of {command[0]} differ"
    first, second, third, fourth = map(median, times)
    gains = first / second, third / fourth
    cells = [f"`{command[0]}`", *(f"{one:.1f}" for one in (first, second, third, fourth)),
             *(f"{one:.2f}" for one in (*gains, gains[1] / gains[0], second / fourth))]  # fmt: skip
    print(f"| {' | '.join(cells)} |", flush=True)


def _run(command: list[str]) -> bytes:
    """Run a command; return what it printed."""
    full = [sys.executable, "-m", "wordgeom", *command, "--quiet"]
    return subprocess.run(full, check=True, capture_output=True).stdout


def _digest(output: Path | None, printed: bytes) -> str:
    """Return the digest of an output's data, or of the printed text if there is no output."""
    if output is None:
        return hashlib.sha256(printed).hexdigest()
    files = sorted(output.iterdir()) if output.is_dir() else [output]
    found = hashlib.sha256()
    for one in files:
        if one.suffix != ".json":  # run cards have times
            found.update(one.read_bytes())
    return found.hexdigest()


if __name__ == "__main__":
    main()
