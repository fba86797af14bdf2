"""The build-up's parts, the choice of its default, and its vectors beside skip-gram's.

    scripts/bench gbu CORPUS [CORPUS …] --sets EN-SIMLEX-999.txt … [--parts] [--dims 100 300]

For each corpus and dimension: text to vectors of `gbu` at its defaults as whole processes (medians
of --rounds) beside gensim's skip-gram (window 5, 5 epochs) with three seeds, each trained once for
a corpus, machine and version and kept in the user's cache; the fastest of them counts. In one row
stand the time and the quality of the same vectors: the unweighted mean of Spearman's ρ over the
sets, all words' 3CosAdd accuracy on the Google analogies, and the paired-bootstrap interval of the
difference to the mean of the seeds. --parts: what each part of the method adds, and plain sweeps
beside eigsh. scripts/bench_choose.py tells how the defaults were found.
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
from bench_vectors import peer_of
from benching import machine, paired, wordgeom

import wordgeom as wg
from wordgeom.corpus.options import CorpusOptions
from wordgeom.evaluation.analogies import read_analogies
from wordgeom.evaluation.answers import Answers, Task
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.similarity import read_similarity
from wordgeom.linalg.device import open_context
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.evaluate import judge
from wordgeom.vectors.keyed import Vectors, read_vectors

COUNT = ["build-cooc", "--tokeniser", "whitespace", "--min-count", "5", "--force", "--quiet"]
SEEDS = (1, 2, 3)
PARTS: tuple[tuple[str, list[str]], ...] = (
    ("as published (m = 4K)", ["--as-published"]),
    ("m = 10K", ["--sweeps", "0", "--anchors", "10K"]),
    ("m = 10K, coreness", ["--sweeps", "0", "--anchors", "10K", "--anchor-choice", "coreness"]),
    ("m = 10K, leverage", ["--sweeps", "0", "--anchors", "10K", "--anchor-choice", "leverage"]),
    ("m = 10K, random", ["--sweeps", "0", "--anchors", "10K", "--anchor-choice", "random"]),
    ("1 plain sweep", ["--no-weighted", "--sweeps", "1"]),
    ("2 plain sweeps", ["--no-weighted", "--sweeps", "2"]),
    ("2 plain sweeps, eig 0", ["--no-weighted", "--sweeps", "2", "--eig", "0"]),
    ("1 weighted sweep", ["--sweeps", "1"]),
    ("2 weighted sweeps", ["--sweeps", "2"]),
    ("3 weighted sweeps (the default)", []),
    ("4 weighted sweeps", ["--sweeps", "4"]),
    ("3 weighted sweeps, --mix 1", ["--mix", "1"]),
    ("3 weighted sweeps, --mix 0", ["--mix", "0"]),
    ("3 weighted sweeps, --neg 1", ["--neg", "1"]),
    ("3 weighted sweeps, --alpha 0.75", ["--alpha", "0.75"]),
)


def main() -> None:
    """Measure and print everything."""
    args = parse()
    print(f"{machine()}; {time.strftime('%F')}\n")
    tasks = sets_of(args.sets)
    with tempfile.TemporaryDirectory(dir=args.scratch) as scratch:
        for corpus in args.corpora:
            folder = Path(scratch)
            for dim in args.dims:
                beside_skip_gram(corpus, dim, folder, tasks, args.rounds)
            if args.parts:
                parts(corpus, args.dims[0], folder, tasks)
                plain_sweeps(args.dims[0], folder, tasks, args.rounds)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpora", nargs="+", help="text files, not packed, words between blanks")
    parser.add_argument("--sets", nargs="*", default=[], help="pairs, beside gensim's two sets")
    parser.add_argument("--dims", nargs="*", type=int, default=[100, 300])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--parts", action="store_true", help="what each part adds, too")
    parser.add_argument("--scratch", help="folder for scratch files")
    return parser.parse_args()


def sets_of(given: Sequence[str]) -> list[Task]:
    """Return the sets of pairs, WordSim-353 the first, and the Google analogies, the last."""
    from gensim.test.utils import datapath

    options = EvalOptions(restrict_vocab=0)
    names = [datapath("wordsim353.tsv"), datapath("simlex999.txt"), *given]
    pairs: list[Task] = [read_similarity(name, options) for name in names]
    return [*pairs, read_analogies(datapath("questions-words.txt"), options)]


def answers_of(vectors: Path | Vectors, tasks: Sequence[Task]) -> list[Answers]:
    """Return what vectors, of a file or in memory, answer to all sets."""
    held = vectors if isinstance(vectors, Vectors) else read_vectors(vectors)
    with open_context(RunOptions()) as using:
        found, refused = judge(held, tasks, using)
    if refused:
        raise SystemExit(f"refused: {refused}")
    return found


def figures(
    found: Sequence[Answers], drawn: Sequence[np.ndarray] | None = None
) -> tuple[float, float]:
    """Return the mean of the sets' Spearman and the accuracy, of all items or of those drawn."""
    values = [
        answers.score(answers.measures[0], None if drawn is None else drawn[k])
        for k, answers in enumerate(found)
    ]
    return float(np.mean(values[:-1])), values[-1]


def beside_skip_gram(
    corpus: str, dim: int, folder: Path, tasks: Sequence[Task], rounds: int
) -> None:
    """Print our row, those of the seeds, and the differences to their mean."""
    out, cooc = folder / "vectors.bin", folder / "cooc"

    def ours() -> None:
        wordgeom([*COUNT, corpus, "-o", str(cooc)])
        train = ["train", str(cooc), "--method", "gbu", "--dim", str(dim), "-o", str(out)]
        wordgeom([*train, "--force", "--quiet"])

    head(f"{Path(corpus).name}, K = {dim}: text to vectors.bin")
    times, _ = paired(ours, None, rounds)
    mine = answers_of(out, tasks)
    row("wordgeom gbu", times, mine)
    theirs, seconds = [], []
    for seed in SEEDS:
        took, path = peer_of(corpus, "sgns", dim, seed, CorpusOptions(tokeniser="whitespace"))
        theirs.append(answers_of(path, tasks))
        seconds.append(took)
        row(f"gensim skip-gram, seed {seed}", [took], theirs[-1])
    ratio = min(seconds) / statistics.median(times)
    for name, k in (("mean of the sets", 0), ("Google analogies", 1)):
        low, value, high = interval(mine, theirs, k)
        print(f"\n{name}: gbu − mean of {len(SEEDS)} seeds {value:+.4f} [{low:+.4f}, {high:+.4f}]")
    print(f"\nskip-gram's fastest run took {ratio:.1f} times as long as ours", flush=True)


def interval(
    mine: Sequence[Answers], theirs: Sequence[Sequence[Answers]], k: int
) -> tuple[float, float, float]:
    """Return the difference to the mean of others with its 95 % interval, items drawn alike."""
    common = []  # what all answered, of each set
    for each in zip(mine, *theirs, strict=True):
        items = each[0].items
        for answers in each[1:]:
            items = np.intersect1d(items, answers.items)
        common.append(items)

    def difference(drawn: Sequence[np.ndarray]) -> float:
        def figure(found: Sequence[Answers]) -> float:
            places = [a.at(items[d]) for a, items, d in zip(found, common, drawn, strict=True)]
            return figures(found, places)[k]

        return figure(mine) - float(np.mean([figure(one) for one in theirs]))

    rng = np.random.default_rng(1)
    draws = [
        difference([rng.integers(0, len(items), len(items)) for items in common])
        for _ in range(1000)
    ]
    low, high = np.percentile(draws, (2.5, 97.5))
    return float(low), difference([np.arange(len(items)) for items in common]), float(high)


def parts(corpus: str, dim: int, folder: Path, tasks: Sequence[Task]) -> None:
    """Print what each part of the method adds: training alone, once each after a warm-up."""
    cooc, out = folder / "cooc", folder / "part.bin"
    wordgeom([*COUNT, corpus, "-o", str(cooc)])
    head(f"{Path(corpus).name}, K = {dim}: counts to vectors.bin")
    for name, options in PARTS:
        given = [str(10 * dim) if option == "10K" else option for option in options]
        train = ["train", str(cooc), "--method", "gbu", "--dim", str(dim), *given, "-o", str(out)]
        times, _ = paired(partial(wordgeom, [*train, "--force", "--quiet"]), None, 1)
        row(name, times, answers_of(out, tasks))


def plain_sweeps(dim: int, folder: Path, tasks: Sequence[Task], rounds: int) -> None:
    """Print plain sweeps beside the eigenvectors that they tend to, by pmi-eigs and by eigsh.

    Ours begin at counts on the disk, eigsh at the PPMI matrix in memory.
    """
    from scipy.sparse.linalg import eigsh

    cooc, out = folder / "cooc", folder / "part.bin"
    matrix = wg.pmi(cooc, out=folder / "pmi")
    whole = matrix.to_scipy().astype(np.float32)
    pairs: list[tuple[np.ndarray, np.ndarray]] = []

    def swept(sweeps: int) -> None:
        wg.train(cooc, "gbu", dim=dim, weighted=False, sweeps=sweeps, out=out, force=True)

    def theirs() -> None:
        pairs.append(eigsh(whole, dim, which="LA", tol=1e-3))

    head(f"K = {dim}: PPMI to vectors")
    mine, other = paired(partial(swept, 4), theirs, rounds)
    row("4 plain sweeps", mine, answers_of(out, tasks))
    row("8 plain sweeps", paired(partial(swept, 8), None, rounds)[0], answers_of(out, tasks))
    values, vectors = pairs[-1]
    scaled = (vectors * np.sqrt(np.maximum(values, 0.0))).astype(np.float32)
    row("SciPy eigsh, tol 1e-3", other, answers_of(Vectors(matrix.words, scaled), tasks))
    train = partial(wg.train, cooc, "pmi-eigs", dim=dim, out=out, force=True)
    row("pmi-eigs", paired(train, None, rounds)[0], answers_of(out, tasks))
    ratio = statistics.median(other) / statistics.median(mine)
    print(f"\neigsh took {ratio:.1f} times as long as 4 plain sweeps", flush=True)


def head(title: str) -> None:
    """Begin a table."""
    print(f"\n| {title} | median (min–max) s | mean of the sets | Google | sets |")
    print("|---|---|---|---|---|", flush=True)


def row(name: str, times: Sequence[float], found: Sequence[Answers]) -> None:
    """Print a row of the table."""
    pairs, accuracy = figures(found)
    each = ", ".join(f"{a.name} {a.score(a.measures[0]):.3f}" for a in found[:-1])
    spread = f" ({min(times):.1f}–{max(times):.1f})" if len(times) > 1 else ""
    took = f"{statistics.median(times):.1f}{spread}"
    print(f"| {name} | {took} | {pairs:.4f} | {accuracy:.4f} | {each} |", flush=True)


if __name__ == "__main__":
    main()
