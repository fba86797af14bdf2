"""gbu compared with skip-gram, and the contribution of each of its parts.

    scripts/bench gbu CORPUS [CORPUS …] --sets EN-SIMLEX-999.txt … [--parts] [--dims 100 300]

For each corpus and dimension, text to vectors with `gbu` at its defaults, as whole processes
(medians of --rounds), is compared with gensim's skip-gram (window 5, 5 epochs) with three seeds.
Each seed is trained once per corpus, machine and version, and stored in the user's cache. Each row
has the time and the quality of the same vectors: the unweighted mean of Spearman's ρ over the sets
and 3CosAdd accuracy on the Google analogies over all words. Below are paired-bootstrap intervals of
the differences to the mean of the seeds; those of analogies resample word pairs. --parts adds the
contribution of each part with the squared loss and windows of 5, and plain sweeps compared with
eigsh. scripts/bench_choose.py chooses the defaults of the squared loss.
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
from bench_common import machine, paired, wordgeom
from bench_vectors import peer_of

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
WINDOW, SQUARED = ["--window", "5"], ["--loss", "squared"]
PARTS: tuple[tuple[str, list[str]], ...] = (
    ("Algorithm 1 on PPMI (m = 4K)", ["--as-published", "--weighting", "ppmi"]),
    ("m = 10K", ["--sweeps", "0", "--anchors", "10K"]),
    ("m = 10K, coreness", ["--sweeps", "0", "--anchors", "10K", "--anchor-choice", "coreness"]),
    ("m = 10K, leverage", ["--sweeps", "0", "--anchors", "10K", "--anchor-choice", "leverage"]),
    ("m = 10K, random", ["--sweeps", "0", "--anchors", "10K", "--anchor-choice", "random"]),
    ("1 plain sweep", ["--no-weighted", "--sweeps", "1"]),
    ("2 plain sweeps", ["--no-weighted", "--sweeps", "2"]),
    ("2 plain sweeps, eig 0", ["--no-weighted", "--sweeps", "2", "--eig", "0"]),
    ("1 weighted sweep", [*SQUARED, "--sweeps", "1"]),
    ("2 weighted sweeps", [*SQUARED, "--sweeps", "2"]),
    ("3 weighted sweeps (the default)", SQUARED),
    ("4 weighted sweeps", [*SQUARED, "--sweeps", "4"]),
    ("3 weighted sweeps, --mix 1", [*SQUARED, "--mix", "1"]),
    ("3 weighted sweeps, --mix 0", [*SQUARED, "--mix", "0"]),
    ("3 weighted sweeps, --neg 1", [*SQUARED, "--neg", "1"]),
    ("3 weighted sweeps, --alpha 0.75", [*SQUARED, "--alpha", "0.75"]),
)


def main() -> None:
    """Run all measurements and print them."""
    args = parse()
    print(f"{machine()}; {time.strftime('%F')}\n")
    tasks = sets_of(args.sets)
    with tempfile.TemporaryDirectory(dir=args.scratch) as scratch:
        for corpus in args.corpora:
            folder = Path(scratch)
            for dim in args.dims:
                compare_with_skip_gram(corpus, dim, folder, tasks, args.rounds)
            if args.parts:
                parts(corpus, args.dims[0], folder, tasks)
                plain_sweeps(args.dims[0], folder, tasks, args.rounds)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "corpora", nargs="+", help="uncompressed text files, tokenised by white space"
    )
    parser.add_argument(
        "--sets", nargs="*", default=[], help="word similarity sets besides gensim's two"
    )
    parser.add_argument("--dims", nargs="*", type=int, default=[100, 300])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--parts", action="store_true", help="also print the contribution of each part"
    )
    parser.add_argument("--scratch", help="directory for temporary files")
    return parser.parse_args()


def sets_of(given: Sequence[str]) -> list[Task]:
    """Return the similarity sets, WordSim-353 first, and the Google analogies last."""
    from gensim.test.utils import datapath

    options = EvalOptions(restrict_vocab=0)
    names = [datapath("wordsim353.tsv"), datapath("simlex999.txt"), *given]
    pairs: list[Task] = [read_similarity(name, options) for name in names]
    return [*pairs, read_analogies(datapath("questions-words.txt"), options)]


def answers_of(vectors: Path | Vectors, tasks: Sequence[Task]) -> list[Answers]:
    """Return the answers of vectors, of a file or in memory, to all sets."""
    opened = vectors if isinstance(vectors, Vectors) else read_vectors(vectors)
    with open_context(RunOptions()) as context:
        answers, failed = judge(opened, tasks, context)
    if failed:
        raise SystemExit(f"failed: {failed}")
    return answers


def figures(
    found: Sequence[Answers], items: Sequence[np.ndarray] | None = None
) -> tuple[float, float]:
    """Return the sets' mean Spearman and the accuracy, over all items or a sample."""
    values = [
        answers.score(answers.measures[0], None if items is None else items[k])
        for k, answers in enumerate(found)
    ]
    return float(np.mean(values[:-1])), values[-1]


def compare_with_skip_gram(
    corpus: str, dim: int, folder: Path, tasks: Sequence[Task], rounds: int
) -> None:
    """Print the rows of gbu and of the seeds, and the differences to their mean."""
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
    print(f"\nskip-gram's fastest run took {ratio:.1f} times as long as gbu", flush=True)


def interval(
    mine: Sequence[Answers], theirs: Sequence[Sequence[Answers]], k: int
) -> tuple[float, float, float]:
    """Return the difference to the mean of others with its paired-bootstrap 95 % interval."""
    common = []  # items of each set that all have answers to
    for each in zip(mine, *theirs, strict=True):
        items = each[0].items
        for answers in each[1:]:
            items = np.intersect1d(items, answers.items)
        common.append(items)

    if k:  # accuracy is a mean over questions, which share word pairs

        def right(found: Sequence[Answers]) -> np.ndarray:
            answers = found[-1]
            return answers.each(answers.measures[0], answers.at(common[-1]))

        values = right(mine) - np.mean([right(one) for one in theirs], axis=0)
        pairs = mine[-1].pairs
        assert pairs is not None
        low, high = pairs.at(mine[-1].at(common[-1])).interval(values, 1000, 1)
        return low, float(values.mean()), high

    def difference(sample: Sequence[np.ndarray]) -> float:
        def figure(found: Sequence[Answers]) -> float:
            places = [a.at(items[d]) for a, items, d in zip(found, common, sample, strict=True)]
            return figures(found, places)[0]

        return figure(mine) - float(np.mean([figure(one) for one in theirs]))

    rng = np.random.default_rng(1)
    draws = [
        difference([rng.integers(0, len(items), len(items)) for items in common])
        for _ in range(1000)
    ]
    low, high = np.percentile(draws, (2.5, 97.5))
    return float(low), difference([np.arange(len(items)) for items in common]), float(high)


def parts(corpus: str, dim: int, folder: Path, tasks: Sequence[Task]) -> None:
    """Print the contribution of each part: training only, once each after a warm-up."""
    cooc, out = folder / "cooc", folder / "part.bin"
    wordgeom([*COUNT, *WINDOW, corpus, "-o", str(cooc)])
    head(f"{Path(corpus).name}, K = {dim}: counts to vectors.bin")
    for name, options in PARTS:
        given = [str(10 * dim) if option == "10K" else option for option in options]
        train = ["train", str(cooc), "--method", "gbu", "--dim", str(dim), *given, "-o", str(out)]
        times, _ = paired(partial(wordgeom, [*train, "--force", "--quiet"]), None, 1)
        row(name, times, answers_of(out, tasks))


def plain_sweeps(dim: int, folder: Path, tasks: Sequence[Task], rounds: int) -> None:
    """Compare plain sweeps with the eigenvectors to which they converge, by pmi-eigs and eigsh.

    wordgeom starts from counts on disk, eigsh from the PPMI matrix in memory.
    """
    from scipy.sparse.linalg import eigsh

    cooc, out = folder / "cooc", folder / "part.bin"
    matrix = wg.pmi(cooc, out=folder / "pmi")
    full = matrix.to_scipy().astype(np.float32)
    pairs: list[tuple[np.ndarray, np.ndarray]] = []

    def swept(sweeps: int) -> None:
        wg.train(cooc, "gbu", dim=dim, weighted=False, sweeps=sweeps, out=out, force=True)

    def theirs() -> None:
        pairs.append(eigsh(full, dim, which="LA", tol=1e-3))

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
    """Print the head of a table."""
    print(f"\n| {title} | median (min–max) s | mean of the sets | Google | sets |")
    print("|---|---|---|---|---|", flush=True)


def row(name: str, times: Sequence[float], found: Sequence[Answers]) -> None:
    """Print a row of a table."""
    pairs, accuracy = figures(found)
    each = ", ".join(f"{a.name} {a.score(a.measures[0]):.3f}" for a in found[:-1])
    range_ = f" ({min(times):.1f}–{max(times):.1f})" if len(times) > 1 else ""
    took = f"{statistics.median(times):.1f}{range_}"
    print(f"| {name} | {took} | {pairs:.4f} | {accuracy:.4f} | {each} |", flush=True)


if __name__ == "__main__":
    main()
