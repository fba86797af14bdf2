"""Level and power of the permutation tests of drift, by simulation.

    scripts/reproduce/drift [--runs 1000] [--permutations 199] [--processes 2]

Each case is simulated --runs times with 1,000 documents, 20 words, 4 topics, noise of variance 1,
and times evenly spaced on [-1, 1], or 50 years of 20 documents for year shocks. The first table has
the share of runs with p ≤ .05, for the mean F (global) and for the mixture statistic |UᵀTU|²; the
second has the share of words. The criteria, fixed before the first run:

static, r = 2, 4, 8          global between .03 and .07
all words move, ϕ² = .01     global above .9 (r = 4)
5 of 20 words move           at most .08 of the stable words and at least .9 of the moving words
                             flagged, with topics from stable words (ϕ² = .04 and .25)
topic variance drifts        global at most .07 (r = 4)
year shocks                  global at most .07 with whole times permuted (r = 2 and 4)

The last table uses counts of 120 words with Zipfian frequencies in 600 documents. It has the share
of words with p at most .01, .05 and .5 in each quartile of document frequency, for permutations and
for the tail of the F distribution.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from zlib import crc32

import numpy as np
from drift_data import (
    Sample,
    counted,
    drifting_variance,
    moving,
    shocked_means,
    shocked_variance,
    shocked_vectors,
    shocked_words,
    static,
)

from wordgeom.core.types import Float64
from wordgeom.drift.options import DOCUMENTS, F_TAIL, OWN, PERMUTATION, POOLED, TIMES, DriftOptions
from wordgeom.drift.testing import test_drift
from wordgeom.drift.verdict import Verdict
from wordgeom.linalg.device import open_context
from wordgeom.runtime.run_options import UseOptions

_LEVEL, _LEVELS = 0.05, (0.01, 0.05, 0.5)
_CHUNK = 10  # runs per task of a process
_FEWER = 10  # divides the number of runs with counts, each of which has many words


@dataclass(frozen=True)
class Case:
    """A simulation and its test; moving: number of moving words."""

    name: str
    make: Callable[[np.random.Generator], Sample]
    rank: int
    options: DriftOptions
    moving: int = 0


@dataclass(frozen=True)
class Settings:
    """Runs per case, permutations per test, and processes."""

    runs: int
    permutations: int
    processes: int


def main() -> None:
    """Print the tables."""
    settings, start = parse(), time.perf_counter()
    context = get_context("spawn")
    print(f"{settings.runs} runs of each case, {settings.permutations} permutations, shares at 5 %")
    with ProcessPoolExecutor(settings.processes, mp_context=context) as processes:
        print(
            "\n| documents | r | permuted | global | mixture | words | seconds |\n"
            + "|---" * 7
            + "|"
        )
        for case in global_cases(settings.permutations):
            print(global_row(case, settings, processes), flush=True)
        print("\n| documents | r | topics from | stable flagged | moving found | seconds |\n"
              + "|---" * 6 + "|")  # fmt: skip
        for case in word_cases(settings.permutations):
            print(word_row(case, settings, processes), flush=True)
        fewer = Settings(max(1, settings.runs // _FEWER), settings.permutations, settings.processes)
        print(f"\ncounts, {fewer.runs} runs: share of words with p ≤ .01 / .05 / .5\n")
        print("| p | rarest quarter | second | third | most frequent |\n" + "|---" * 5 + "|")
        for case in quantile_cases(settings.permutations):
            print(quantile_row(case, fewer, processes), flush=True)
    print(f"\n{time.perf_counter() - start:.0f} s")


def parse() -> Settings:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--permutations", type=int, default=199)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    if min(vars(args).values()) < 1:
        raise SystemExit("error: --runs, --permutations and --processes must be at least 1")
    return Settings(args.runs, args.permutations, args.processes)


def global_cases(B: int) -> Iterable[Case]:
    """Yield the cases of the first table."""
    documents = DriftOptions(test=PERMUTATION, permutations=B, permute=DOCUMENTS, null=OWN)
    times = DriftOptions(test=PERMUTATION, permutations=B, permute=TIMES, null=OWN)
    for r in (2, 4, 8):
        yield Case("static", static, r, documents)
    for r in (2, 4, 8):
        yield Case("all words move, ϕ² = .01", partial(moving, phi2=0.01), r, documents)
    yield Case("all words move, ϕ² = .0025", partial(moving, phi2=0.0025), 4, documents)
    for r in (2, 4, 8):
        yield Case("topic variance drifts", drifting_variance, r, documents)
    shocks = {
        "means": shocked_means, "variance": shocked_variance,
        "words": shocked_words, "vectors": shocked_vectors,
    }  # fmt: skip
    for name, make in shocks.items():
        for options in (documents, times):
            for r in (2, 4):
                yield Case(f"year shocks: {name}", make, r, options)


def word_cases(B: int) -> Iterable[Case]:
    """Yield the cases of the second table."""
    for phi2 in (0.01, 0.04, 0.25):
        make = partial(moving, phi2=phi2, words=5)
        for still in (False, True):
            options = DriftOptions(
                test=PERMUTATION, permutations=B, permute=DOCUMENTS, null=OWN, still=still
            )
            yield Case(f"5 of 20 words move, ϕ² = {phi2:g}", make, 4, options, 5)


def quantile_cases(B: int) -> Iterable[Case]:
    """Yield the cases of the third table."""
    for null in (OWN, POOLED):
        options = DriftOptions(test=PERMUTATION, permutations=B, permute=DOCUMENTS, null=null)
        yield Case(f"permutation, {null}", counted, 4, options)
    yield Case("F distribution", counted, 4, DriftOptions(test=F_TAIL))


def global_row(case: Case, settings: Settings, processes: ProcessPoolExecutor) -> str:
    """Return a row of the first table."""
    start = time.perf_counter()
    found = simulate(case, settings, processes)
    cells = [
        case.name, str(case.rank),
        case.options.permute,
        *(share(np.array([getattr(v, p) for v in found])) for p in ("global_p", "mixture_p")),
        share(np.concatenate([v.pvalues for v in found])),
        f"{time.perf_counter() - start:.0f}",
    ]  # fmt: skip
    return row(cells)


def word_row(case: Case, settings: Settings, processes: ProcessPoolExecutor) -> str:
    """Return a row of the second table."""
    start = time.perf_counter()
    p = np.array([v.pvalues for v in simulate(case, settings, processes)])
    topics = "stable words" if case.options.still else "all words"
    cells = [case.name, str(case.rank), topics, share(p[:, case.moving :]),
             share(p[:, : case.moving]), f"{time.perf_counter() - start:.0f}"]  # fmt: skip
    return row(cells)


def quantile_row(case: Case, settings: Settings, processes: ProcessPoolExecutor) -> str:
    """Return a row of the third table."""
    found = simulate(case, settings, processes)
    p = np.concatenate([v.pvalues for v in found])
    frequency = np.concatenate([
        np.count_nonzero(case.make(generator(case, run)).X, axis=0)
        for run in range(settings.runs)
    ])  # fmt: skip
    known = ~np.isnan(p)
    p, frequency = p[known], frequency[known]
    quarter = np.searchsorted(np.quantile(frequency, (0.25, 0.5, 0.75)), frequency)
    cells = [" / ".join(share(p[quarter == k], level) for level in _LEVELS) for k in range(4)]
    return row([case.name, *cells])


def share(p: Float64, level: float = _LEVEL) -> str:
    """Return the share of p ≤ level, a dash if there are none."""
    return "–" if np.isnan(p).all() else f"{np.mean(p[~np.isnan(p)] <= level):.3f}"


def row(cells: Sequence[str]) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def simulate(case: Case, settings: Settings, processes: ProcessPoolExecutor) -> list[Verdict]:
    """Return the verdicts of all runs, in order."""
    chunks = [range(k, min(k + _CHUNK, settings.runs)) for k in range(0, settings.runs, _CHUNK)]
    return [v for some in processes.map(partial(verdicts, case), chunks) for v in some]


def generator(case: Case, run: int) -> np.random.Generator:
    """Return the random generator of a run, distinct for every case and rank."""
    return np.random.default_rng([run, crc32(case.name.encode()), case.rank])


def verdicts(case: Case, runs: range) -> list[Verdict]:
    """Return the verdicts of some runs."""
    found = []
    for run in runs:
        sample = case.make(generator(case, run))
        X, times = sample.csr(), sample.times
        with open_context(UseOptions(threads=1, seed=run, memory=1.0)) as context:
            found.append(
                test_drift(X, times[:, None], times, case.options, case.rank, None, context)
            )
    return found


if __name__ == "__main__":
    main()
