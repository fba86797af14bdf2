"""Rank words whose change is known, planted in dated text, by every measure of change.

    scripts/reproduce/planted_change SPEECHES.tsv.gz [--designs shuffled,strata,real] [--seeds 1]
        [--speeches N] [--words 16] [--dims 50,100] [--permutations 999] [--min-count 100]
        [--measures flips,dlsa,pmi,gbu,sgns] [--out DIR] [--threads 2]

SPEECHES has lines of year, session, country and speech, separated by tabs: the UN General Debate
Corpus. Pseudo-words replace tokens of words that are in 200 to 2,000 speeches. In some, the share
of a donor's uses grows or falls at a known rate (step, linear, growing sense, dying sense), to 10,
25, 50 or 100 % of the uses; in others the share is constant, or the frequency alone changes ×2, ×4
or ×8. --words is their number for each kind and size; controls have twice as many.

shuffled  The years of speeches are permuted, and a stretch of each is kept, in proportion to the
          mean length of its year. Nothing but length depends on time: each word that is not planted
          is a control.
strata    The years are permuted within 20 strata of length. The correlation of length and year
          remains, but long speeches use words in other contexts than short ones, and so do years.
real      The years are real. Controls are pseudo-words with a constant share, and what they show is
          change of the language.

In the first two designs, two controls in as many speeches as each planted word are ranked with the
pseudo-words.

Measures: the score test (flips), on passages of 10 tokens and on speeches; dynamic LSA and the
permutation test, on speeches; and between two periods, halves or the first and the last third, the
distance of PPMI vectors, and vectors of gbu or gensim's skip-gram (window 5) with cosine distance
after orthogonal Procrustes alignment or the change of the nearest twentieth of all words.

--speeches draws some of the speeches. --out keeps the scores, one file for each design, seed and
family of measures; files that exist are not made again.

Average precision is of planted words among these, controls and words with a changed frequency; its
interval is a bootstrap over words, 95 %. Measures without p are compared at equal error: by the
share of words above the 95 % quantile of controls and words with a constant share. False
discoveries are shares of all words with q ≤ .05.

The criteria, fixed before the first run, are for words planted in text where nothing else changes:

power           at least .8 of the words in 200 or more speeches, half of whose uses are the donor's
                after the change, have q ≤ .05 by the F of flips (all four kinds together)
frequency only  at most .07 of the words whose frequency alone changes have p ≤ .05
ranking         flips' best score has a higher average precision than every baseline: the 95 %
                interval of each difference, paired by word, is above 0

They were fixed for `strata`. A first run showed that unchanged words depend on time there, with and
without planted words, so `shuffled` was added.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from planted_measures import FAMILIES, SGNS, Settings, Text
from planted_tables import Run, criteria, read_run, tables, write_scores
from planted_text import Speeches, read_speeches, shuffled, within_strata
from planted_words import PLANTED, REMAINDER, UNTOUCHED, Pseudo, draw, matched, plant

from wordgeom.core.errors import OptionError, UnavailableError, WordgeomError
from wordgeom.core.types import Array
from wordgeom.linalg.device import open_context
from wordgeom.runtime.run_options import UseOptions

SHUFFLED, STRATA, REAL = DESIGNS = ("shuffled", "strata", "real")
_CONTROLS = 2  # untouched words for each planted one


def main() -> None:
    """Print the tables."""
    args = parse()
    try:
        with tempfile.TemporaryDirectory(prefix="planted-") as folder:
            make(args, args.out or Path(folder))
    except WordgeomError as error:
        raise SystemExit(f"error: {error}") from None


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, metavar="SPEECHES")
    parser.add_argument("--designs", default=",".join(DESIGNS))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--speeches", type=int, default=0)
    parser.add_argument("--words", type=int, default=16)
    parser.add_argument("--dims", default="50,100")
    parser.add_argument("--permutations", type=int, default=999)
    parser.add_argument("--min-count", type=int, default=100)
    parser.add_argument("--measures", default=",".join(FAMILIES))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def make(args: argparse.Namespace, out: Path) -> None:
    """Print the tables of the designs; raises WordgeomError for invalid input."""
    start = time.perf_counter()
    families, designs = (among("measures", args.measures, FAMILIES),
                         among("designs", args.designs, DESIGNS))  # fmt: skip
    dims = numbers(args.dims)
    if min(args.seeds, args.words, args.permutations, args.min_count, args.threads, *dims) < 1:
        raise OptionError("numbers must be at least 1", do="raise them")
    if SGNS in families and find_spec("gensim") is None:
        raise UnavailableError("--measures sgns needs gensim", do="pip install gensim")
    out.mkdir(parents=True, exist_ok=True)
    speeches = read_speeches(args.file)
    if 0 < args.speeches < len(speeches.years):
        rng = np.random.default_rng(args.speeches)
        chosen = rng.choice(len(speeches.years), args.speeches, replace=False)
        speeches = speeches.select(np.sort(chosen))
    print(f"{_machine()}, {time.strftime('%F')}: {_command()}")
    size = f"{len(speeches.years):,} speeches, {len(speeches.tokens):,} tokens"
    print(f"{size}; {args.permutations} permutations or flips\n")
    for design in designs:
        runs = []
        for seed in range(1, args.seeds + 1):
            settings = Settings(dims, args.permutations, args.min_count, seed)
            made = f"{design}: {size}, --words {args.words}, {settings}"
            paths = {family: out / f"{design}-{seed}-{family}.tsv" for family in families}
            missing = {family: path for family, path in paths.items() if not path.exists()}
            if missing:
                score(speeches, made, args.words, settings, missing, args.threads)
            runs.append(read_run(list(paths.values()), made, seed))
        print(f"\n## {design}\n")
        lines = tables(runs)
        if design != REAL:
            lines += ["", *criteria(design, runs)]
        print("\n".join(lines), flush=True)
    print(f"\n{time.perf_counter() - start:.0f} s")


def among(option: str, given: str, known: tuple[str, ...]) -> list[str]:
    """Return the names in a list; raises OptionError for an unknown one."""
    if unknown := sorted({*given.split(",")} - {*known}):
        raise OptionError(f"--{option} {unknown[0]}: unknown", do=f"choose from {', '.join(known)}")
    return given.split(",")


def numbers(given: str) -> tuple[int, ...]:
    """Return the numbers in a list; raises OptionError."""
    try:
        return tuple(map(int, given.split(",")))
    except ValueError:
        raise OptionError("--dims must be numbers", found=given, do="pass 50,100") from None


def score(
    speeches: Speeches, made: str, number: int, settings: Settings, out: dict[str, Path],
    threads: int,
) -> None:  # fmt: skip
    """Write the scores of one seed of a design by families of measures; out: their files.

    made: the design, a colon, and all options.
    """
    design = made.partition(":")[0]
    rng = np.random.default_rng([settings.seed, DESIGNS.index(design)])
    if design != REAL:
        speeches = (shuffled if design == SHUFFLED else within_strata)(speeches, rng)
    pseudo = draw(speeches, number, rng)
    changed = plant(speeches, pseudo, rng)
    with (
        tempfile.TemporaryDirectory(prefix="planted-") as folder,
        open_context(UseOptions(threads=threads, seed=settings.seed, quiet=True)) as context,
    ):
        text = Text(changed, [word.name for word in pseudo], Path(folder), settings, context)
        run = labelled(text, pseudo, speeches.words, design != REAL, settings.seed)
        for family, path in out.items():
            start = time.perf_counter()
            write_scores(path, made, run, text.scores(family))
            print(f"{design}, seed {settings.seed}, {family}: {time.perf_counter() - start:.0f} s",
                  flush=True)  # fmt: skip


def labelled(text: Text, pseudo: list[Pseudo], words: list[str], quiet: bool, seed: int) -> Run:
    """Return the vocabulary with the kind and size of each word; words: before planting.

    quiet: whether the words that are not planted do not change.
    """
    row = {word: k for k, word in enumerate(text.words)}
    kinds: Array = np.full(len(row), UNTOUCHED if quiet else REMAINDER, object)
    sizes = np.full(len(row), np.nan)
    for word in pseudo:
        rest = [words[k] for k in (word.donor, word.recipient) if k >= 0]
        kinds[[row[name] for name in rest if name in row]] = REMAINDER
        kinds[row[word.name]], sizes[row[word.name]] = word.kind, word.size
    planted = np.flatnonzero(np.isin(kinds, PLANTED))
    controls = matched(planted, text.documents, kinds == UNTOUCHED, _CONTROLS)
    return Run(
        seed, text.words, kinds, sizes, text.documents, np.isin(np.arange(len(row)), controls)
    )


def _machine() -> str:
    return f"{platform.machine()}, {os.cpu_count()} CPUs"


def _command() -> str:
    """Return the command, without directories."""
    words = [Path(word).name if Path(word).exists() else word for word in sys.argv[1:]]
    return shlex.join(["scripts/reproduce/planted_change", *words])


if __name__ == "__main__":
    main()
