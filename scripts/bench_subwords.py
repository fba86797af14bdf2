"""gbu with subwords, and fastText.

    scripts/bench subwords CORPUS:K … --program FASTTEXT --sets EN-MTurk-287.txt … [--settings …]

For each CORPUS:K, gbu at its defaults with --subwords 2-6, and without, is compared with fastText's
skip-gram at each of its settings: seconds of the processor and peak memory of one thread, from text
to vectors, bytes of the model, and scores. A similarity set is scored on its pairs of words with a
vector; those of --open also on all pairs, where n-grams give the other words one. Differences have
paired-bootstrap intervals that resample word pairs, and p of single sets are corrected by Holm's
method. fastText's models are stored under --results, outside the project.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench_common import machine, wordgeom
from bench_gbu import COUNT, answers_of, interval, sets_of
from bench_search import SCORES, between, scores, single_sets
from bench_skip_gram import Corpus, FastText, Setting, measured

from wordgeom.evaluation.answers import Answers, Task
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.sets import read_set
from wordgeom.evaluation.similarity import Similarity
from wordgeom.formats.vector_files import read_open_vectors

DEFAULTS = "5-5-5-0.0001"  # of fastText
OURS = {"gbu --subwords 2-6": ["--subwords", "2-6"], "gbu": []}


@dataclass(frozen=True)
class Sets:
    """Similarity sets with the analogies last; others, one by one; sets scored on all pairs."""

    means: Sequence[Task]
    others: Sequence[Task]
    opened: Sequence[Similarity]

    def answered(self, path: Path, *, ngrams: bool) -> list[Answers]:
        """Return the answers to others, to all pairs of the open sets if ngrams, and to means."""
        vectors = read_open_vectors(path)
        known = answers_of(vectors.vectors, [*self.others, *self.means])
        every: list[Answers] = []
        for one in self.opened if ngrams else ():
            (answers,) = answers_of(vectors.including(one.asked_words)[0], [one])
            every.append(replace(answers, name=f"{one.name}, all pairs"))
        n = len(self.others)
        return [*known[:n], *every, *known[n:]]

    def means_of(self, answers: Sequence[Answers]) -> Sequence[Answers]:
        """Return the answers to the sets of the means."""
        return answers[-len(self.means) :]


def main() -> None:
    """Train what is missing, and print the tables."""
    args = parse()
    print(f"{machine()}; {time.strftime('%F')}")
    tasks = [read_set(name, EvalOptions(restrict_vocab=0)) for name in args.others]
    opened = [one for one in tasks if isinstance(one, Similarity) and one.path in args.open]
    sets = Sets(sets_of(args.sets), tasks, opened)
    with tempfile.TemporaryDirectory(dir=args.scratch) as scratch:
        for name in args.corpora:
            path, _, dim = name.rpartition(":")
            corpus = Corpus(path, args.results, Path(scratch), FastText(args.program))
            chosen = [Setting.parse(one) for one in args.settings]
            compare(corpus, int(dim), chosen, sets, Path(scratch))


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpora", nargs="+", metavar="CORPUS:K",
                        help="an uncompressed text file, tokenised by white space")  # fmt: skip
    parser.add_argument("--program", type=Path, required=True, help="fastText's program")
    parser.add_argument("--settings", nargs="+", default=[DEFAULTS],
                        help="epochs-window-negatives-sample, and @rate")  # fmt: skip
    parser.add_argument("--sets", nargs="*", default=[], help="similarity sets besides gensim's")
    parser.add_argument("--others", nargs="*", default=[], help="sets to report one by one")
    parser.add_argument("--open", nargs="*", default=[], help="of those, to score on all pairs too")
    parser.add_argument("--results", type=Path, help="directory of the trained models",
                        default=Path.home() / ".cache" / "wordgeom-bench")  # fmt: skip
    parser.add_argument("--scratch", help="directory for temporary files")
    return parser.parse_args()


def compare(
    corpus: Corpus, dim: int, settings: Sequence[Setting], sets: Sets, folder: Path
) -> None:
    """Print the scores and costs of gbu and of fastText, and the differences."""
    print(f"\n| {Path(corpus.name).name}, K = {dim} | CPU s | GB | MB |{SCORES}")
    print(f"|{'---|' * 7}")
    mine: dict[str, list[Answers]] = {}
    for name, options in OURS.items():
        out, costs = train(corpus.name, dim, options, folder)
        mine[name] = sets.answered(out, ngrams=bool(options))
        print(f"| {name} | {costs} |{scores(sets.means_of(mine[name]))}", flush=True)
    singles = []
    for setting in settings:
        path = corpus.vectors(setting, dim, 1)
        if path is None:  # another process trains it
            continue
        theirs = sets.answered(path, ngrams=True)
        facts, size = corpus.facts(setting, dim, 1), path.stat().st_size / 1e6
        costs = f"{facts['cpu_seconds']:.0f} | {facts['peak_gb']:.2f} | {size:.0f}"
        print(f"| fastText {setting} | {costs} |{scores(sets.means_of(theirs))}", flush=True)
        for name, found in mine.items():
            ours, other = sets.means_of(found), [sets.means_of(theirs)]
            cells = (interval(ours, other, 0), interval(ours[1:], [other[0][1:]], 0),
                     interval(ours, other, 1))  # fmt: skip
            row = " | ".join(map(between, cells))
            print(f"| {name} − fastText | | | | {row} |", flush=True)
        singles.append((f"gbu --subwords 2-6 − fastText {setting}", theirs))
    for title, theirs in singles:
        single_sets(title, mine["gbu --subwords 2-6"], [theirs], "fastText")


def train(text: str, dim: int, options: Sequence[str], folder: Path) -> tuple[Path, str]:
    """Count and train with one thread; return the vectors, and the cells of their costs."""
    # A subword model beside vectors without one would be another file's.
    cooc, out = folder / "cooc", folder / ("opened.bin" if options else "plain.bin")
    given = ["train", "--method", "gbu", *options, str(cooc), "--dim", str(dim), "-o", str(out)]

    def run() -> float:
        one = ["--threads", "1"]
        counting = wordgeom([*COUNT, text, "-o", str(cooc), *one], watch=True)
        return max(counting, wordgeom([*given, "--force", "--quiet", *one], watch=True))

    peak, seconds = measured(run, resource.RUSAGE_CHILDREN)
    parts = [out, *(folder / "opened.subwords").glob("*")] if options else [out]
    size = sum(part.stat().st_size for part in parts) / 1e6
    return out, f"{seconds:.0f} | {peak:.2f} | {size:.0f}"


if __name__ == "__main__":
    main()
