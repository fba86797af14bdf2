"""Minimum-distortion embedding compared with PyMDE, with optima, and maps with UMAP and t-SNE.

    scripts/bench mde VECTORS [--python PYTHON] [--rivals DIR] [--parts steps,quadratic,…] [--full]

--python is an interpreter with PyMDE, umap-learn and openTSNE; without it, only wordgeom is
measured. Their results are stored in --rivals and used again. The parts are

steps       15 cosine neighbours of VECTORS and as many random dissimilar pairs, log1p and log
            penalties, centred, 40 steps from the same start, m = 2 and 100: average distortion of
            both programs, evaluated in float64, and seconds of their solvers
quadratic   standardised quadratic problems (Table 7.1), 40 steps from a random start, beside the
            optimum by eigenvectors; --full adds 1,000,000 pairs with m = 10 and 100
stochastic  the stochastic method on 10,000 pairs, m = 10, 300 rounds (Figure 7.4)
million     1,000,000 items and 10,000,000 pairs, m = 2: a process under --memory 4
maps        two-dimensional maps of 5,000 and all words, beside umap-learn and openTSNE: recall of
            15 neighbours, and seconds of whole fits
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from bench_common import follow, machine, seconds, wordgeom
from mde_problems import (
    SIZES,
    STEPS,
    Case,
    Rivals,
    compiled,
    distortion,
    least,
    normal,
    ours,
    placed,
    quadratic_case,
)

import wordgeom as wg
from wordgeom.linalg.device import open_context
from wordgeom.methods.mde import quadratic
from wordgeom.methods.mde.graphs.neighbours import COSINE, neighbours, points_of
from wordgeom.methods.mde.graphs.sampling import dissimilar
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors.keyed import Vectors, read_vectors, write_vectors

OPTIONS: tuple[list[str], ...] = ([], ["--nearby", "0", "--dissimilar", "1"])  # of maps
PARTS = ("steps", "quadratic", "stochastic", "million", "maps")


def main() -> None:
    """Print the tables."""
    args = parse()
    if args.parts == ["child"]:
        million(args.threads)
        return
    print(f"{machine()}; {args.threads} threads; {time.strftime('%F')}")
    vectors = read_vectors(args.vectors)
    rivals = Rivals(args.python, args.rivals, args.threads)
    with open_context(RunOptions(threads=args.threads, seed=1)) as context:
        compiled(context)
        if "steps" in args.parts:
            steps(vectors, args.dims, rivals, args.rounds, context)
        if "quadratic" in args.parts:
            optima(args.full, context)
        if "stochastic" in args.parts:
            rounds(args.starts, context)
    if "million" in args.parts:
        watched(args.threads)
    if "maps" in args.parts:
        maps(vectors, rivals, args.rounds)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vectors", help="word vectors, most frequent words first")
    parser.add_argument("--python", help="interpreter with PyMDE, umap-learn and openTSNE")
    parser.add_argument("--rivals", type=Path, default=Path("rivals"),
                        help="where results of other programs are stored")  # fmt: skip
    parser.add_argument("--parts", type=lambda text: text.split(","), default=list(PARTS))
    parser.add_argument("--dims", nargs="*", type=int, default=[2, 100], help="m of steps")
    parser.add_argument("--starts", type=int, default=10, help="of the stochastic method")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--full", action="store_true", help="the largest quadratic problems")
    args = parser.parse_args()
    unknown = set(args.parts) - {*PARTS, "child"}
    if unknown:
        parser.error(f"--parts are {', '.join(PARTS)}; found {', '.join(sorted(unknown))}")
    return args


def head(title: str, cells: Sequence[str]) -> None:
    """Print a title and the head of a table."""
    print(f"\n{title}\n\n| " + " | ".join(cells) + " |\n|" + "---|" * len(cells), flush=True)


def line(*cells: str) -> None:
    """Print a row of a table."""
    print("| " + " | ".join(cells) + " |", flush=True)


def spread(took: Sequence[float]) -> str:
    """Return the median of some seconds, and their range."""
    return f"{statistics.median(took):.2f} ({min(took):.2f}–{max(took):.2f})"


def steps(
    vectors: Vectors, dims: Sequence[int], rivals: Rivals, number: int, context: Context
) -> None:
    """Print both programs' seconds and distortion after 40 steps from the same start."""
    similar = neighbours(points_of(vectors.matrix, COSINE), 15, context.pool).pairs
    items = len(vectors.words)
    other = dissimilar(similar, items, len(similar), np.random.default_rng(1))
    pairs = f"{len(similar) + len(other):,} pairs"
    cells = ["m", "median (min–max) s", "PyMDE s", "ratio", "processor s", "PyMDE's", "ratio", "E",
             "PyMDE's E", "difference"]  # fmt: skip
    head(f"{items:,} words, {pairs}, {STEPS} steps, centred, log1p and log", cells)
    for m in dims:
        start = quadratic.standardized(similar, items, m, context.pool, 1)
        case = placed(Case(similar, start, other), context)
        runs = [ours(case, context, STEPS) for _ in range(number)]
        took = [run.seconds for run in runs]
        own = distortion(case, runs[0].vectors, context.pool)
        theirs = rivals.pymde(case, STEPS)
        cells = [f"{m}", spread(took)]
        if theirs is None:
            line(*cells, "not measured", "", "", "", "", f"{own:.6f}", "", "")
            continue
        value = distortion(case, theirs.vectors, context.pool)
        stored = " (stored)" if theirs.stored else ""
        ratio = theirs.seconds / statistics.median(took)
        used = statistics.median(run.processor for run in runs)
        line(*cells, f"{theirs.seconds:.2f}{stored}", f"{ratio:.1f}", f"{used:.2f}",
             f"{theirs.processor:.2f}", f"{theirs.processor / used:.1f}", f"{own:.6f}",
             f"{value:.6f}", f"{100 * (own / value - 1):+.3f} %")  # fmt: skip


def optima(full: bool, context: Context) -> None:
    """Print the distortion of quadratic problems after 40 steps, and the least one."""
    head(f"Standardised quadratic problems, {STEPS} steps from a random start",
         ["n", "pairs", "m", "s", "E", "optimum", "gap"])  # fmt: skip
    for items, number in SIZES:
        for m in (2, 10, 100):
            if items == SIZES[-1][0] and m > 2 and not full:
                continue
            case = quadratic_case(items, number, m, context)
            run = ours(case, context, STEPS)
            value, best = distortion(case, run.vectors, context.pool), least(case, m, context)
            line(f"{items:,}", f"{number:,}", f"{m}", f"{run.seconds:.2f}", f"{value:.4f}",
                 f"{best:.4f}", f"{100 * (value / best - 1):.2f} %")  # fmt: skip


def rounds(starts: int, context: Context) -> None:
    """Print the distortion that the stochastic method reaches, beside the least one."""
    items, number, m, most = 1000, 10_000, 10, 300
    case = quadratic_case(items, number, m, context)
    best, found, took, used = least(case, m, context), [], [], []
    for start in range(1, starts + 1):
        own = placed(replace(case, start=normal(items, m, start)), context)
        run = ours(own, replace(context, seed=start), most, batch=number // 10)
        found.append(distortion(case, run.vectors, context.pool))
        took.append(run.seconds)
        used.append(run.processor)
    cells = ["starts", "median (min–max) s", "processor s", "mean E", "min", "max", "optimum",
             "mean gap", "largest gap"]  # fmt: skip
    head(f"Stochastic method, n = {items:,}, {number:,} pairs, m = {m}, {most} rounds", cells)
    mean = statistics.mean(found)
    line(f"{starts}", spread(took), f"{statistics.median(used):.2f}", f"{mean:.4f}",
         f"{min(found):.4f}", f"{max(found):.4f}", f"{best:.4f}",
         *(f"{100 * (value / best - 1):.2f} %" for value in (mean, max(found))))  # fmt: skip


def watched(threads: int) -> None:
    """Run `million` in a process of its own, and print its peak memory."""
    peak = [0.0]
    command = [sys.executable, __file__, "-", "--parts", "child", "--threads", str(threads)]
    process = subprocess.Popen(command)
    watcher = threading.Thread(target=follow, args=(process, peak))
    watcher.start()
    watcher.join()
    if process.wait() != 0:
        raise SystemExit("the problem with 1,000,000 items failed")
    print(f"\npeak private memory: {peak[0]:.2f} GB")


def million(threads: int) -> None:
    """Solve a quadratic problem of 1,000,000 items under a memory limit of 4 GB."""
    with open_context(RunOptions(threads=threads, memory=4.0, seed=1)) as context:
        compiled(context)
        case = quadratic_case(1_000_000, 10_000_000, 2, context)
        run = ours(case, context, STEPS)
        head(f"1,000,000 items, 10,000,000 pairs, m = 2, standardised, {STEPS} steps",
             ["s", "processor s", "s a step", "E", "residual norm"])  # fmt: skip
        value = distortion(case, run.vectors, context.pool)
        line(f"{run.seconds:.1f}", f"{run.processor:.1f}", f"{run.seconds / STEPS:.2f}",
             f"{value:.4f}", f"{run.norms[-1]:.1e}")  # fmt: skip


def maps(vectors: Vectors, rivals: Rivals, number: int) -> None:
    """Print recall and seconds of maps of the first 5,000 and of all words."""
    head("Maps: seconds of whole fits, neighbours included", ["words", "map", "s", "recall at 15"])
    with tempfile.TemporaryDirectory() as name:
        source, out = str(Path(name, "vectors.bin")), str(Path(name, "map.bin"))
        for n in sorted({min(5000, len(vectors.words)), len(vectors.words)}):
            words, points = vectors.words[:n], vectors.matrix[:n]
            write_vectors(source, words, points)
            train = ["train", source, "--method", "mde", "--dim", "2", "-o", out, "--force",
                     "--quiet", "--threads", str(rivals.threads)]  # fmt: skip
            for more in OPTIONS:
                full = [*train, *more]
                took = [seconds(partial(wordgeom, full)) for _ in range(number)]
                label = " ".join(["wordgeom", *more])
                line(f"{n:,}", label, spread(took), recall(out, source))
            for program in ("umap", "tsne"):
                made = rivals.run(program, {"points": points, "metric": "cosine"})
                if made is None:
                    continue
                write_vectors(out, words, np.ascontiguousarray(made.vectors, np.float32))
                stored = " (stored)" if made.stored else ""
                label = f"{program} {made.version}"
                line(f"{n:,}", label, f"{made.seconds:.2f}{stored}", recall(out, source))


def recall(path: str, source: str) -> str:
    """Return the recall of a map, with its interval."""
    score = wg.score(path, reference=[source]).scores[0]
    return f"{score.value:.4f} [{score.low:.4f}, {score.high:.4f}]"


if __name__ == "__main__":
    main()
