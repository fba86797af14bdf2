"""The level of the tests of change where nothing changes in meaning, by simulation.

    scripts/reproduce/drift-change [--runs 500] [--flips 999] [--processes 2] [--ranks 10 20]
        [--speeches TSV [--sample 1000] [--vocabulary 200]]

1,000 documents in 50 years, 200 words with Zipfian frequencies, 20 topics. For each situation and
test: the share of runs in which the p of all words together is ≤ .05, the share of words with
p ≤ .05, the same for words whose frequency changes, and the share of runs with any q ≤ .05.

With --speeches (year TAB session TAB country TAB speech), the UN General Debates are redrawn: 50
topics are fitted to the most frequent words by EM, without the years, and each speech's words are
drawn anew from its own mixture, in its own year and number. The frequencies of topics and the
lengths then change as they did; no word's meaning does. --sample takes speeches at random, 0: all.

Criteria, fixed before the first run: shares are not significantly above .05 (exact binomial, Holm
over the rows of the default test) for words and for all words together, above .02 where nothing
depends on time, and any q ≤ .05 in at most a tenth of the runs.
"""

from __future__ import annotations

import argparse
import gzip
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from drift_change_data import (
    SITUATIONS,
    Situation,
    Texts,
    changed_frequency,
    sparse,
    static_texts,
)

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.drift.options import FLIPS, PERMUTATION, DriftOptions
from wordgeom.drift.testing import test_directions, test_drift
from wordgeom.linalg.device import open_context
from wordgeom.runtime.run_options import UseOptions

_LEVEL, _CHUNK = 0.05, 5
_DEGREE = 2
_SPEECH_TOPICS, _ROUNDS = 50, 40
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Case:
    """Static texts and a test of them; make: texts of a run; changing: words of other frequency."""

    name: str
    make: Callable[[int], Texts]
    options: DriftOptions
    rank: int
    changing: bool


@dataclass(frozen=True)
class Found:
    """p of all words together, p (p) and the smallest q."""

    together: float
    p: Float64
    q: float


def main() -> None:
    """Print the table."""
    args = parse()
    start = time.perf_counter()
    print(f"{args.runs} runs, {args.flips} sign flips or permutations, shares at 5 %\n")
    print("| texts | test | r | all words together | words | words of other frequency | any q |"
          " seconds |\n" + "|---" * 8 + "|")  # fmt: skip
    with ProcessPoolExecutor(args.processes, mp_context=get_context("spawn")) as processes:
        found = {}
        for case in cases(args):
            at = time.perf_counter()
            found[case] = simulate(case, args.runs, processes)
            print(row(case, found[case], time.perf_counter() - at), flush=True)
    for line in verdicts(found):
        print(line)
    print(f"\n{time.perf_counter() - start:.0f} s")


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--flips", type=int, default=999)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--ranks", type=int, nargs="+", default=[10, 20], metavar="R")
    parser.add_argument("--speeches", type=Path)
    parser.add_argument("--sample", type=int, default=1000)
    parser.add_argument("--vocabulary", type=int, default=200)
    parser.add_argument("--passages", type=int, nargs="+", default=[0, 10], metavar="N")
    args = parser.parse_args()
    if min(args.runs, args.flips, args.processes, args.vocabulary, args.documents // 50) < 1:
        raise SystemExit("error: numbers must be at least 1, --documents 50")
    return args


def cases(args: argparse.Namespace) -> Iterable[Case]:
    """Yield the rows of the table."""
    flips = DriftOptions(permutations=args.flips)
    years = DriftOptions(test=PERMUTATION, permutations=args.flips)
    if args.speeches:
        source = args.speeches, args.sample, args.vocabulary
        for passage in args.passages:
            name = "speeches redrawn" + (f", passages of {passage} tokens" if passage else "")
            for rank in args.ranks:
                yield Case(name, partial(redrawn, source, passage), flips, rank, False)
        return
    for situation in SITUATIONS:
        make = partial(_simulated, situation, args.documents)
        changing = situation.frequency != 1.0
        for options in (flips, years):
            for rank in args.ranks:
                yield Case(situation.name, make, options, rank, changing)


def _simulated(situation: Situation, documents: int, run: int) -> Texts:
    return static_texts(np.random.default_rng([run, 16]), situation, documents)


def simulate(case: Case, runs: int, processes: ProcessPoolExecutor) -> list[Found]:
    """Return the results of all runs, in order."""
    chunks = [range(k, min(k + _CHUNK, runs)) for k in range(0, runs, _CHUNK)]
    return [one for some in processes.map(partial(results, case), chunks) for one in some]


def results(case: Case, runs: range) -> list[Found]:
    """Return the results of some runs."""
    found = []
    for run in runs:
        texts = case.make(run)
        times = texts.years.astype(np.float64)
        basis = polynomials(times)
        with open_context(UseOptions(threads=1, seed=run + 1, memory=4.0)) as context:
            if case.options.test == FLIPS:
                given = texts.X, texts.units, basis, times, case.options, case.rank, context
                verdict = test_directions(*given)
            else:
                lengths = np.bincount(texts.X.entry_rows, texts.X.data, texts.X.rows)
                data = (texts.X.data / lengths[texts.X.entry_rows]).astype(np.float32)
                X = replace(texts.X, data=data)
                verdict = test_drift(X, basis, times, case.options, case.rank, None, context)
        found.append(Found(verdict.global_p, verdict.pvalues, float(np.nanmin(verdict.qvalues))))
    return found


def polynomials(times: Float64) -> Float64:
    """Return orthogonal polynomials of times (n × _DEGREE) with mean 0 and mean square 1."""
    t = (times - times.mean()) / np.ptp(times)
    return np.asarray(np.linalg.qr(np.vander(t, _DEGREE + 1, increasing=True))[0][:, 1:]
                      * len(times) ** 0.5)  # fmt: skip


@cache
def speeches(path: Path, sample: int, words: int) -> tuple[Float64, Float64, Int64, Int64]:
    """Return mixtures (n × k), topics (k × p), lengths (n) and years (n) of speeches, by EM.

    sample: number of speeches chosen at random, 0: all; words: p, the most frequent ones.
    """
    rng = np.random.default_rng(16)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as file:
        lines = [line.split("\t") for line in file]
    if 0 < sample < len(lines):
        lines = [lines[k] for k in np.sort(rng.choice(len(lines), sample, replace=False))]
    tokens = [_WORD.findall(line[3].lower()) for line in lines]
    common = Counter(word for speech in tokens for word in speech).most_common(words)
    index = {word: k for k, (word, _) in enumerate(common)}
    X = np.zeros((len(lines), len(index)), np.float32)
    for i, speech in enumerate(tokens):
        np.add.at(X[i], [index[word] for word in speech if word in index], 1.0)
    mixtures = rng.dirichlet(np.ones(_SPEECH_TOPICS), len(X)).astype(np.float32)
    topics = rng.dirichlet(np.ones(len(index)), _SPEECH_TOPICS).astype(np.float32)
    for _ in range(_ROUNDS):  # expectation–maximisation of a mixture of multinomials
        ratio = X / np.maximum(mixtures @ topics, 1e-12)
        mixtures, topics = mixtures * (ratio @ topics.T), topics * (mixtures.T @ ratio)
        mixtures /= mixtures.sum(axis=1, keepdims=True)
        topics /= topics.sum(axis=1, keepdims=True)
    years = np.array([int(line[0]) for line in lines])
    return mixtures.astype(float), topics.astype(float), X.sum(axis=1).astype(int), years


def redrawn(source: tuple[Path, int, int], passage: int, run: int) -> Texts:
    """Return the speeches redrawn, in passages of about `passage` tokens, 0: whole."""
    mixtures, topics, lengths, years = speeches(*source)
    rng = np.random.default_rng([run, 17])
    means = mixtures @ topics
    means /= means.sum(axis=1, keepdims=True)
    pieces = np.maximum(1, np.rint(lengths / passage)).astype(int) if passage else lengths * 0 + 1
    units = np.repeat(np.arange(len(lengths)), pieces)
    sizes = lengths[units] // pieces[units]
    counts = [rng.multinomial(m, means[i]) for m, i in zip(sizes, units, strict=True)]
    return Texts(sparse(np.array(counts, np.int32)), years[units], units)


def row(case: Case, found: list[Found], seconds: float) -> str:
    """Return a row of the table."""
    p = np.array([one.p for one in found])
    changing = changed_frequency() if case.changing else np.zeros(p.shape[1], bool)
    test = "sign flips" if case.options.test == FLIPS else f"permute {case.options.permute}"
    cells = [
        case.name, test, str(case.rank), share(np.array([one.together for one in found])),
        share(p[:, ~changing]), share(p[:, changing]), share(np.array([one.q for one in found])),
        f"{seconds:.0f}",
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


def share(p: Array) -> str:
    """Return the share of p ≤ .05, a dash if there are none."""
    known = p[~np.isnan(p)]
    return f"{np.mean(known <= _LEVEL):.3f}" if known.size else "–"


def verdicts(found: dict[Case, list[Found]]) -> Iterable[str]:
    """Yield whether the default test meets the criteria.

    Words of a run depend on each other: the share of words is tested by runs, as the number of runs
    in which a word chosen at random is significant.
    """
    from scipy.stats import binomtest

    tests = {}
    for case, runs in found.items():
        if case.options.test != FLIPS:
            continue
        words = round(sum(np.nanmean(one.p <= _LEVEL) for one in runs))
        together = sum(one.together <= _LEVEL for one in runs)
        for what, count in (("words", words), ("all together", together)):
            p = binomtest(int(count), len(runs), _LEVEL, "greater").pvalue
            tests[f"{case.name}, r = {case.rank}, {what}"] = p
        if sum(one.q <= _LEVEL for one in runs) > len(runs) / 10:
            yield f"MISSED any q ≤ .05 in at most a tenth of the runs: {case.name}, r = {case.rank}"
    ordered = sorted(tests.items(), key=lambda item: item[1])
    for k, (name, p) in enumerate(ordered):
        if p * (len(ordered) - k) > _LEVEL:
            break
        yield f"MISSED not above .05: {name} (p = {p:.2g})"
    yield f"{len(ordered)} shares of the default test compared with .05 (exact binomial, Holm)"


if __name__ == "__main__":
    main()
