"""Divide and conquer compared with gbu, pmi-eigs and SciPy's eigsh, and its designs.

    scripts/bench dc CORPUS --sets EN-MTurk-287.txt … [--dims 100 200 300] [--designs]

For each dimension, training from the same counts on disk (eigsh: from the PMI and PPMI matrices in
memory), as whole processes; medians of --rounds after a warm-up. The published methods factorise
PMI, the others PPMI. Each row has the time and the quality of the same vectors: the unweighted mean
of Spearman's ρ over the sets and 3CosAdd accuracy on the Google analogies over all words. Below are
the paired-bootstrap intervals of the differences to pmi-eigs. --designs adds other plans of blocks,
merges and finishes.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from bench_common import machine, paired, seconds, wordgeom
from bench_gbu import COUNT, SQUARED, WINDOW, answers_of, head, interval, row, sets_of

import wordgeom as wg
from wordgeom.evaluation.answers import Answers, Task
from wordgeom.vectors.keyed import Vectors

PMI_EIGS = "pmi-eigs"
METHODS = (
    (PMI_EIGS, [PMI_EIGS]),
    ("gbu, as published", ["gbu", "--as-published"]),
    ("gbu, squared loss", ["gbu", *SQUARED]),
    ("dc, as published", ["dc", "--as-published"]),
    ("dc", ["dc"]),
    ("dc, 1 sweep", ["dc", "--sweeps", "1"]),
)
_PLAIN = ["dc", "--neg", "1"]
_EIGS = [*_PLAIN, "--block-solver", "eigs"]
DESIGNS = (
    ("chain, rigid", [*_EIGS, "--merge", "chain", "--alignment", "rigid"]),
    ("chain, rotation", [*_EIGS, "--merge", "chain"]),
    ("chain, rigid, overlap 4K",
     [*_EIGS, "--merge", "chain", "--alignment", "rigid", "--overlap", "4K"]),
    ("tree, rigid", [*_EIGS, "--merge", "tree", "--alignment", "rigid"]),
    ("core of K + 1, rigid", [*_EIGS, "--alignment", "rigid"]),
    ("core of 4K, rigid", [*_EIGS, "--alignment", "rigid", "--overlap", "4K"]),
    ("core of 4K, rotation", [*_EIGS, "--overlap", "4K"]),
    ("least squares on the first block", _PLAIN),
    ("the same, coreness", [*_PLAIN, "--order", "coreness"]),
    ("the same, --neg 0.2 (the default)", ["dc"]),
    ("first block of 10,000, 1 sweep", ["dc", "--first-block", "10000", "--sweeps", "1"]),
    ("first block of 5,000, 1 sweep", ["dc", "--first-block", "5000", "--sweeps", "1"]),
    ("pmi-eigs, --neg 0.2", [PMI_EIGS, "--neg", "0.2"]),
    ("2 sweeps", ["dc", "--sweeps", "2"]),
    ("3 sweeps", ["dc", "--sweeps", "3"]),
    ("gbu, 1 sweep", ["gbu", *SQUARED, "--sweeps", "1"]),
    ("gbu, 2 sweeps", ["gbu", *SQUARED, "--sweeps", "2"]),
)  # fmt: skip


def main() -> None:
    """Run all measurements and print them."""
    args = parse()
    print(f"{machine()}; {time.strftime('%F')}\n")
    tasks = sets_of(args.sets)
    with tempfile.TemporaryDirectory(dir=args.scratch) as scratch:
        folder = Path(scratch)
        wordgeom([*COUNT, *WINDOW, args.corpus, "-o", str(folder / "cooc")])
        for dim in args.dims:
            compare(dim, folder, tasks, args.rounds)
        if args.designs:
            head(f"K = {args.dims[0]}: designs, counts to vectors.bin")
            for name, method in DESIGNS:
                trained(name, method, args.dims[0], folder, tasks, 1)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", help="an uncompressed text file, tokenised by white space")
    parser.add_argument(
        "--sets", nargs="*", default=[], help="word similarity sets besides gensim's two"
    )
    parser.add_argument("--dims", nargs="*", type=int, default=[100, 200, 300])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--designs", action="store_true", help="also print other designs")
    parser.add_argument("--scratch", help="directory for temporary files")
    return parser.parse_args()


def compare(dim: int, folder: Path, tasks: Sequence[Task], rounds: int) -> None:
    """Print a row for each method, and the differences to pmi-eigs."""
    head(f"K = {dim}: counts to vectors.bin")
    took, found = {}, {}
    for name, method in METHODS:
        took[name], found[name] = trained(name, method, dim, folder, tasks, rounds)
    longest = {each: eigsh(each, dim, folder, tasks, rounds) for each in ("pmi", "ppmi")}
    for name in [name for name, _ in METHODS if name != PMI_EIGS]:
        for what, k in (("mean of the sets", 0), ("Google analogies", 1)):
            low, value, high = interval(found[name], [found[PMI_EIGS]], k)
            print(f"\n{what}: {name} − {PMI_EIGS} {value:+.4f} [{low:+.4f}, {high:+.4f}]")
    for name, time_taken in took.items():
        each = "pmi" if "published" in name else "ppmi"
        ratio = longest[each] / time_taken
        print(f"\neigsh of {each.upper()} took {ratio:.1f} times as long as {name}", flush=True)


def trained(
    name: str, method: Sequence[str], dim: int, folder: Path, tasks: Sequence[Task], rounds: int
) -> tuple[float, list[Answers]]:
    """Train vectors and print their row; return the median of the seconds, and their answers."""
    out = folder / "vectors.bin"
    given = [str(4 * dim) if option == "4K" else option for option in method]
    train = ["train", str(folder / "cooc"), "--method", *given, "--dim", str(dim), "-o", str(out)]
    times, _ = paired(partial(wordgeom, [*train, "--force", "--quiet"]), None, rounds)
    answers = answers_of(out, tasks)
    row(name, times, answers)
    return statistics.median(times), answers


def eigsh(
    weighting: str, dim: int, folder: Path, tasks: Sequence[Task], rounds: int
) -> float:  # fmt: skip
    """Print the row of SciPy's eigsh on the whole matrix; return the median of its seconds."""
    from scipy.sparse.linalg import eigsh

    matrix = wg.pmi(folder / "cooc", out=folder / weighting, weighting=weighting)
    full = matrix.to_scipy().astype(np.float32)
    found: list[tuple[np.ndarray, np.ndarray]] = []
    times = [
        seconds(lambda: found.append(eigsh(full, dim, which="LA", tol=1e-3))) for _ in range(rounds)
    ]
    values, vectors = found[-1]
    scaled = (vectors * np.sqrt(np.maximum(values, 0.0))).astype(np.float32)
    row(
        f"SciPy eigsh of {weighting.upper()}, tol 1e-3",
        times,
        answers_of(Vectors(matrix.words, scaled), tasks),
    )
    return statistics.median(times)


if __name__ == "__main__":
    main()
