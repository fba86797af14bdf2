"""Speed of imputation, compared with the authors' program and at scale.

    scripts/bench impute [--authors DIR] [--python PYTHON] [--vectors FILE] [--million]

--authors is a checkout of ShiboYao/LatentSemanticImputation, --python an interpreter with its
dependencies (NumPy, SciPy, pandas). Both programs impute 4,092 entities with 400 features, 1,000 of
them known, 300-dimensional vectors and δ = 8, as whole processes on the same files. The results are
compared with those of the authors' program after convergence. --vectors is a file of at least
200,000 word vectors; its words are the entities, a quarter of them known, with default and with
exact neighbours. --million adds 1,000,000 × 50.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from bench_common import machine, row, seconds, wordgeom

from wordgeom.vectors.keyed import read_vectors, write_vectors

N, D, KNOWN, K, DELTA = 4092, 400, 1000, 300, 8
# Run by the other interpreter: reads the same files, saves the result of the authors' functions.
THEIRS = """
import sys, time
import numpy as np, pandas as pd
sys.path.insert(0, sys.argv[1] + "/model")
import lsi
folder, until = sys.argv[2], float(sys.argv[3])
names = open(folder + "/domain.txt").read().split()
aff = pd.DataFrame(np.load(folder + "/domain.npy"), index=names)
known = open(folder + "/known.txt").read().split()
semantic = pd.DataFrame(np.load(folder + "/known.npy").astype(float), index=known)
aff, semantic, _ = lsi.permuteMat(aff, semantic)
made = lsi.LSI(aff, semantic, 8, until)
made.loc[names].to_numpy().tofile(folder + "/theirs.raw")
"""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--authors", help="checkout of the authors' program")
    parser.add_argument("--python", default="python3", help="interpreter for the authors' program")
    parser.add_argument("--vectors", help="file of at least 200,000 word vectors")
    parser.add_argument("--million", action="store_true", help="also 1,000,000 × 50")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    print(f"{machine()}\n")
    print("| imputation | median (min–max) s | baseline | median s | ratio | quality, notes |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if args.authors:
            compare_with_authors(folder, args)
        if args.vectors:
            words(folder, args)
        if args.million:
            million(folder)


def compare_with_authors(folder: Path, args: argparse.Namespace) -> None:
    """Time both programs and compare their results."""
    rng = np.random.default_rng(0)
    factors = 0.6 * rng.standard_normal((N, 40)) @ rng.standard_normal((40, D))
    names = [f"e{i}" for i in range(N)]
    known = [names[i] for i in np.sort(rng.permutation(N)[:KNOWN])]
    save(folder, 0.02 * (factors + rng.standard_normal((N, D))), names)
    vectors = rng.standard_normal((KNOWN, K)).astype(np.float32)
    (folder / "known.txt").write_text("\n".join(known) + "\n")
    np.save(folder / "known.npy", vectors)
    write_vectors(folder / "base.bin", known, vectors)

    def theirs(until: str) -> None:
        command = [args.python, "-c", THEIRS, args.authors, str(folder), until]
        subprocess.run(command, check=True)

    took = [seconds(lambda: theirs("1e-4"))]
    theirs("1e-13")
    reference = np.fromfile(folder / "theirs.raw").reshape(N, K)
    same = ["--weights", "nnls", "--weight-epsilon", "0.1"]
    for label, options in (
        ("authors' settings: nnls, epsilon .1", same),
        ("simplex, the default", []),
    ):
        ours = timed(folder, [*options, "--delta", str(DELTA), "--only-entities"], args.rounds)
        made = read_vectors(folder / "out.bin").matrix
        apart = float(np.abs(made - reference).max())
        note = f"largest difference from the authors' vectors after convergence: {apart:.1e}"
        note = note if options is same else ""
        row(
            f"4,092 × 400, 1,000 known, K = 300, {label}",
            ours,
            "authors' program, once",
            took,
            note,
        )


def words(folder: Path, args: argparse.Namespace) -> None:
    """Time the imputation of words, with default and with exact neighbours."""
    vectors = read_vectors(args.vectors)
    order = np.random.default_rng(1).permutation(len(vectors.words))
    medians = []
    for n in (100_000, 200_000):
        rows, known = np.sort(order[:n]), np.sort(order[: n // 4])
        save(folder, vectors.matrix[rows], [vectors.words[r] for r in rows])
        chosen = [vectors.words[r] for r in known]
        write_vectors(folder / "base.bin", chosen, vectors.matrix[known])
        exact = timed(folder, ["--neighbours", "exact"], 1)
        ours = timed(folder, [], args.rounds)
        row(
            f"{n:,} × {vectors.matrix.shape[1]}", ours, "--neighbours exact", exact, summary(folder)
        )
        medians.append(statistics.median(ours))
    print(f"\nexponent from 100,000 to 200,000: {math.log2(medians[1] / medians[0]):.2f}\n")


def million(folder: Path) -> None:
    """Time a million entities near an 8-dimensional surface, a quarter of them known."""
    rng, n, d = np.random.default_rng(2), 1_000_000, 50
    points = np.tanh(0.3 * rng.standard_normal((n, 8)) @ rng.standard_normal((8, d)))
    names = [f"e{i}" for i in range(n)]
    save(folder, (points + 0.05 * rng.standard_normal((n, d))).astype(np.float32), names)
    known = rng.standard_normal((n // 4, d)).astype(np.float32)
    write_vectors(folder / "base.bin", names[: n // 4], known)
    row(f"{n:,} × {d}", timed(folder, [], 1), "", [], summary(folder))


def save(folder: Path, domain: np.ndarray, names: list[str]) -> None:
    """Write a domain matrix and its names."""
    np.save(folder / "domain.npy", domain)
    (folder / "domain.txt").write_text("\n".join(names) + "\n")


def timed(folder: Path, options: list[str], rounds: int) -> list[float]:
    """Return the seconds of whole processes, after one warm-up if there are several."""
    command = ["impute", "--domain", str(folder / "domain.npy"), "--vectors"]
    command += [str(folder / "base.bin"), "-o", str(folder / "out.bin"), "--force", *options]
    if rounds > 1:
        wordgeom(command)
    return [seconds(lambda: wordgeom(command)) for _ in range(rounds)]


def summary(folder: Path) -> str:
    """Return quality and memory from the run card."""
    card = json.loads((folder / "out.bin.json").read_bytes())
    facts = card["statistics"]
    return (
        f"recall {facts['recall']:.4f}; residual {facts['residual']:.0e}; "
        f"{card['peak_bytes'] / 1e9:.1f} GB"
    )


if __name__ == "__main__":
    main()
