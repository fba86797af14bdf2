"""Skip-gram with 40 settings, and gbu compared with the best two.

    scripts/bench search CORPUS [CORPUS:K …] --sets EN-SIMLEX-999.txt … [--program PROGRAM]

Settings of skip-gram are searched on CORPUS at K = 100: its defaults and 39 others, drawn from all
combinations of epochs, windows, negatives and subsampling thresholds. The criterion is the one
that chose gbu's defaults: Spearman's ρ on WordSim-353 plus 3CosAdd accuracy on the Google
analogies. The best two are then trained on each CORPUS:K, and gbu at its defaults, with windows of
5, and with the squared loss besides, is compared with each. Differences have paired-bootstrap
intervals that resample word pairs; sets that chose nothing have a column of their own, and p of
single sets are corrected by Holm's method. Sets named by --others are reported one by one.

gensim trains skip-gram, with three seeds in the comparison, or a PROGRAM that has the options of
word2vec. Every model is trained by one thread, so it does not depend on the machine's load, and is
stored under --results. Several processes may share the work: run --train-only in each.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from bench_common import machine, wordgeom
from bench_gbu import COUNT, SQUARED, WINDOW, answers_of, figures, interval, sets_of
from bench_skip_gram import DEFAULTS, Corpus, Gensim, Program, Setting, settings

from wordgeom.evaluation.answers import Answers, Task
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.sets import read_set

K, SETTINGS, RESAMPLES = 100, 40, 2000
SCORES = " mean of the sets | without WordSim-353 | Google |"
# Options of counting and of training.
OURS: dict[str, tuple[list[str], list[str]]] = {
    "gbu": ([], []),
    "gbu, --window 5": (WINDOW, []),
    "gbu --loss squared, --window 5": (WINDOW, SQUARED),
}


def main() -> None:
    """Train what is missing, and print both tables."""
    args = parse()
    print(f"{machine()}; {time.strftime('%F')}\n")
    trainer = Program(args.program) if args.program else Gensim()
    chosen = list(itertools.islice(settings(), SETTINGS))
    with tempfile.TemporaryDirectory(dir=args.scratch) as scratch:
        corpus = Corpus(args.corpora[0], args.results, Path(scratch), trainer)
        found = {setting: corpus.vectors(setting, K, 1) for setting in chosen}
        if args.train_only:
            return
        tasks = sets_of(args.sets)
        others = [read_set(name, EvalOptions(restrict_vocab=0)) for name in args.others]
        best = search_table(corpus, {s: path for s, path in found.items() if path}, tasks)
        for name in args.corpora[1:]:
            path, _, dim = name.rpartition(":")
            other = Corpus(path, args.results, Path(scratch), trainer)
            compare(other, int(dim), best, tasks, others, Path(scratch))


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "corpora", nargs="+", metavar="CORPUS",
        help="an uncompressed text file, tokenised by white space; then CORPUS:K to compare on",
    )  # fmt: skip
    parser.add_argument("--sets", nargs="*", default=[], help="similarity sets besides gensim's")
    parser.add_argument("--others", nargs="*", default=[], help="sets to report one by one")
    parser.add_argument("--program", type=Path, help="a program with the options of word2vec")
    parser.add_argument("--results", type=Path, help="directory of the trained models",
                        default=Path.home() / ".cache" / "wordgeom-bench")  # fmt: skip
    parser.add_argument("--train-only", action="store_true", help="train, and print nothing")
    parser.add_argument("--scratch", help="directory for temporary files")
    return parser.parse_args()


def search_table(
    corpus: Corpus, found: dict[Setting, Path], tasks: Sequence[Task]
) -> list[Setting]:
    """Print the scores of every setting; return the best two."""
    print(f"skip-gram, K = {K}, {len(found)} settings; criterion: WordSim-353 + Google\n")
    print("| epochs-window-negatives-sample | CPU s | criterion |" + SCORES)
    print("|---|---|---|---|---|---|")
    answered = {setting: answers_of(path, tasks) for setting, path in found.items()}
    ranked = sorted(answered, key=lambda setting: criterion(answered[setting]), reverse=True)
    for setting in ranked:
        answers, took = answered[setting], corpus.seconds(setting, K, 1)
        print(f"| {setting} | {took:.0f} | {criterion(answers):.4f} |{scores(answers)}", flush=True)
    return ranked[:2]


def criterion(answers: Sequence[Answers]) -> float:
    """Return what chooses a setting: WordSim-353's correlation plus accuracy on the analogies."""
    return main_score(answers[0]) + figures(answers)[1]


def scores(answers: Sequence[Answers]) -> str:
    """Return the cells of SCORES. WordSim-353, the first set, chose settings."""
    mean, google = figures(answers)
    return f" {mean:.4f} | {figures(answers[1:])[0]:.4f} | {google:.4f} |"


def compare(
    corpus: Corpus, dim: int, best: Sequence[Setting], tasks: Sequence[Task],
    others: Sequence[Task], folder: Path,
) -> None:  # fmt: skip
    """Print the scores of gbu and of the best settings, and the differences."""
    cooc, out = folder / "cooc", folder / "vectors.bin"
    print(f"\n| {Path(corpus.name).name}, K = {dim} |" + SCORES + "\n|---|---|---|---|")
    mine: dict[str, list[Answers]] = {}
    for name, (counting, options) in OURS.items():
        wordgeom([*COUNT, *counting, corpus.name, "-o", str(cooc)])
        train = ["train", str(cooc), "--method", "gbu", "--dim", str(dim), *options]
        wordgeom([*train, "-o", str(out), "--force", "--quiet"])
        mine[name] = answers_of(out, [*others, *tasks])
        print(f"| wordgeom {name} |{scores(mine[name][len(others) :])}", flush=True)
    singles = []
    for setting in dict.fromkeys((*best, DEFAULTS)):
        paths = [corpus.vectors(setting, dim, seed) for seed in corpus.trainer.seeds]
        theirs = [answers_of(path, [*others, *tasks]) for path in paths if path]
        common = [answers[len(others) :] for answers in theirs]
        for seed, answers in zip(corpus.trainer.seeds, common, strict=True):
            print(f"| skip-gram {setting}, seed {seed} |{scores(answers)}")
        for name, found in mine.items():
            ours = found[len(others) :]
            rest = interval(ours[1:], [answers[1:] for answers in common], 0)
            cells = interval(ours, common, 0), rest, interval(ours, common, 1)
            print(f"| {name} − skip-gram | " + " | ".join(map(between, cells)) + " |", flush=True)
            if setting in best:
                singles.append((f"{name} − skip-gram {setting}", found, theirs))
    for title, found, theirs in singles:
        single_sets(title, found, theirs)


def single_sets(
    title: str, mine: Sequence[Answers], theirs: Sequence[Sequence[Answers]],
    peer: str = "skip-gram",
) -> None:  # fmt: skip
    """Print the difference on every set, with its interval and Holm's p; peer: their name."""
    print(f"\n| {title} | gbu | {peer} | difference | p, Holm |\n|---|---|---|---|---|")
    drawn = [differences(one, each) for one, each in zip(mine, zip(*theirs, strict=True),
                                                         strict=True)]  # fmt: skip
    adjusted = holm([two_sided(values[1:]) for values in drawn])
    for one, each, values, p in zip(mine, zip(*theirs, strict=True), drawn, adjusted, strict=True):
        other = float(np.mean([main_score(answers) for answers in each]))
        low, high = np.percentile(values[1:], (2.5, 97.5))
        cells = f"{main_score(one):.3f} | {other:.3f} | {between((low, values[0], high))}"
        print(f"| {one.name} | {cells} | {p:.3f} |", flush=True)


def differences(mine: Answers, theirs: Sequence[Answers]) -> np.ndarray:
    """Return the difference to the mean of others on one set, then that of each resample."""
    items = mine.items
    for answers in theirs:
        items = np.intersect1d(items, answers.items)
    models = [(answers, answers.at(items)) for answers in (mine, *theirs)]
    measure, rng = mine.measures[0], np.random.default_rng(1)
    if mine.pairs is not None and measure.each is not None:
        right = [answers.each(measure, places) for answers, places in models]
        values = right[0] - np.mean(right[1:], axis=0)
        pairs = mine.pairs.at(models[0][1])
        return np.array([values.mean(), *pairs.resampled(values, RESAMPLES, rng)])

    def at(sample: np.ndarray) -> float:
        found = [answers.score(measure, places[sample]) for answers, places in models]
        return found[0] - float(np.mean(found[1:]))

    n = len(items)
    return np.array([at(np.arange(n)), *(at(rng.integers(0, n, n)) for _ in range(RESAMPLES))])


def two_sided(resampled: np.ndarray) -> float:
    """Return the bootstrap's p of no difference, at least 2 / (B + 1)."""
    tail = min(int((resampled <= 0).sum()), int((resampled >= 0).sum()))
    return min(1.0, 2.0 * (tail + 1) / (len(resampled) + 1))


def holm(p: Sequence[float]) -> list[float]:
    """Return p adjusted by Holm's step-down method."""
    order = np.argsort(p)
    scaled = np.asarray(p)[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(scaled))
    return adjusted.tolist()


def main_score(answers: Answers) -> float:
    """Return the score by the main measure of a set."""
    return answers.score(answers.measures[0])


def between(found: tuple[float, float, float]) -> str:
    """Return a difference and its interval as text."""
    low, value, high = found
    return f"{value:+.4f} [{low:+.4f}, {high:+.4f}]"


if __name__ == "__main__":
    main()
