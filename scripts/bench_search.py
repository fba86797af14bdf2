"""gensim's skip-gram with 40 settings, and gbu compared with the best two.

    scripts/bench search CORPUS [CORPUS:K …] --sets EN-SIMLEX-999.txt … [--train-only]

Settings of skip-gram are searched on CORPUS at K = 100: its defaults and 39 others, drawn from all
combinations of epochs, windows, negatives and subsampling thresholds. The criterion is the one
that chose gbu's defaults: Spearman's ρ on WordSim-353 plus 3CosAdd accuracy on the Google
analogies. The best two are then trained with three seeds on each CORPUS:K, and gbu, at its
defaults, is compared with each: differences have paired-bootstrap intervals that resample word
pairs, and sets that chose nothing have a column of their own.

Every model is trained by one thread, so it does not depend on the machine's load, and is stored
under --results. Several processes may share the work: run --train-only in each.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bench_common import machine, wordgeom
from bench_gbu import COUNT, SEEDS, answers_of, figures, interval, sets_of
from bench_vectors import digest

from wordgeom.evaluation.answers import Answers, Task
from wordgeom.vectors.keyed import from_keyed_vectors, write_vectors

K, SETTINGS = 100, 40
LONGEST = 10_000  # tokens of a line; gensim drops what lies beyond
GRID = ((5, 10, 15), (2, 5, 10), (5, 10, 15), (1e-3, 1e-4, 1e-5))
SCORES = " mean of the sets | without WordSim-353 | Google |"


@dataclass(frozen=True)
class Setting:
    """Settings of skip-gram."""

    epochs: int
    window: int
    negative: int
    sample: float

    def __str__(self) -> str:
        return f"{self.epochs}-{self.window}-{self.negative}-{self.sample:g}"


DEFAULTS = Setting(5, 5, 5, 1e-3)


def main() -> None:
    """Train what is missing, and print both tables."""
    args = parse()
    print(f"{machine()}; {time.strftime('%F')}\n")
    chosen = list(itertools.islice(settings(), SETTINGS))
    with tempfile.TemporaryDirectory(dir=args.scratch) as scratch:
        corpus = Corpus(args.corpora[0], args.results, Path(scratch))
        found = {setting: corpus.vectors(setting, K, 1) for setting in chosen}
        if args.train_only:
            return
        tasks = sets_of(args.sets)
        best = search_table({s: path for s, path in found.items() if path}, tasks)
        for name in args.corpora[1:]:
            path, _, dim = name.rpartition(":")
            other = Corpus(path, args.results, Path(scratch))
            compare(other, int(dim), best, tasks, Path(scratch))


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "corpora", nargs="+", metavar="CORPUS",
        help="an uncompressed text file, tokenised by white space; then CORPUS:K to compare on",
    )  # fmt: skip
    parser.add_argument("--sets", nargs="*", default=[], help="similarity sets besides gensim's")
    parser.add_argument("--results", type=Path, help="directory of the trained models",
                        default=Path.home() / ".cache" / "wordgeom-bench")  # fmt: skip
    parser.add_argument("--train-only", action="store_true", help="train, and print nothing")
    parser.add_argument("--scratch", help="directory for temporary files")
    return parser.parse_args()


def settings() -> Iterator[Setting]:
    """Yield the defaults, then all other combinations in a random order."""
    yield DEFAULTS
    every = [Setting(*values) for values in itertools.product(*GRID)]
    for k in np.random.default_rng(1).permutation(len(every)):
        if every[k] != DEFAULTS:
            yield every[k]


class Corpus:
    """A text, and the models trained on it."""

    def __init__(self, name: str, results: Path, scratch: Path) -> None:
        import gensim

        self.name, self._scratch = name, scratch
        self._folder = results / f"skip-gram-{gensim.__version__}-{digest(name)[:16]}"
        self._folder.mkdir(parents=True, exist_ok=True)

    def vectors(self, setting: Setting, dim: int, seed: int) -> Path | None:
        """Return the vectors of a model; train it first, or return None if another process does."""
        stem = self._folder / f"{setting}-{dim}-{seed}"
        path, claim = stem.with_name(stem.name + ".bin"), stem.with_name(stem.name + ".claim")
        if path.exists():
            return path
        try:
            claim.touch(exist_ok=False)
        except FileExistsError:
            return None
        try:
            start = time.process_time()
            trained(self._lines(), setting, dim, seed, path)
            facts = {"cpu_seconds": time.process_time() - start, "machine": machine()}
            stem.with_name(stem.name + ".json").write_text(json.dumps(facts))
        finally:
            claim.unlink()
        return path

    def _lines(self) -> Path:
        """Return the text with lines of at most LONGEST tokens."""
        made = self._scratch / f"{Path(self.name).name}.lines"
        if not made.exists():
            with open(self.name, encoding="utf-8", errors="replace") as text, open(
                made, "w", encoding="utf-8"
            ) as out:  # fmt: skip
                for line in text:
                    tokens = line.split()
                    for k in range(0, len(tokens), LONGEST):
                        out.write(" ".join(tokens[k : k + LONGEST]) + "\n")
        return made


def trained(lines: Path, setting: Setting, dim: int, seed: int, out: Path) -> None:
    """Train skip-gram with one thread, and write its vectors.

    gensim's faster mode, which reads the file itself, makes worse vectors (by .03 and .05 at its
    defaults).
    """
    from gensim.models import Word2Vec
    from gensim.models.word2vec import LineSentence

    model = Word2Vec(
        LineSentence(str(lines)), sg=1, vector_size=dim, window=setting.window, min_count=5,
        negative=setting.negative, sample=setting.sample, epochs=setting.epochs, seed=seed,
        workers=1,
    )  # fmt: skip
    made = from_keyed_vectors(model.wv)
    part = out.with_name(f"{out.stem}.part-{os.getpid()}.bin")
    write_vectors(part, made.words, made.matrix)
    part.rename(out)


def search_table(found: dict[Setting, Path], tasks: Sequence[Task]) -> list[Setting]:
    """Print the scores of every setting; return the best two."""
    print(f"skip-gram, K = {K}, {len(found)} settings; criterion: WordSim-353 + Google\n")
    print("| epochs-window-negatives-sample | criterion |" + SCORES + "\n|---|---|---|---|---|")
    answered = {setting: answers_of(path, tasks) for setting, path in found.items()}
    ranked = sorted(answered, key=lambda setting: criterion(answered[setting]), reverse=True)
    for setting in ranked:
        print(f"| {setting} | {criterion(answered[setting]):.4f} |{scores(answered[setting])}")
    return ranked[:2]


def criterion(answers: Sequence[Answers]) -> float:
    """Return what chooses a setting: WordSim-353's correlation plus accuracy on the analogies."""
    return answers[0].score(answers[0].measures[0]) + figures(answers)[1]


def scores(answers: Sequence[Answers]) -> str:
    """Return the cells of SCORES. WordSim-353, the first set, chose settings."""
    mean, google = figures(answers)
    return f" {mean:.4f} | {figures(answers[1:])[0]:.4f} | {google:.4f} |"


def compare(
    corpus: Corpus, dim: int, best: Sequence[Setting], tasks: Sequence[Task], folder: Path
) -> None:
    """Print the scores of gbu and of the best settings, and the differences."""
    cooc, out = folder / "cooc", folder / "vectors.bin"
    wordgeom([*COUNT, corpus.name, "-o", str(cooc)])
    train = ["train", str(cooc), "--method", "gbu", "--dim", str(dim), "-o", str(out)]
    wordgeom([*train, "--force", "--quiet"])
    mine = answers_of(out, tasks)
    print(f"\n| {Path(corpus.name).name}, K = {dim} |" + SCORES + "\n|---|---|---|---|")
    print(f"| wordgeom gbu |{scores(mine)}", flush=True)
    for setting in (DEFAULTS, *best):
        paths = [corpus.vectors(setting, dim, seed) for seed in SEEDS]
        theirs = [answers_of(path, tasks) for path in paths if path]
        for seed, answers in zip(SEEDS, theirs, strict=True):
            print(f"| skip-gram {setting}, seed {seed} |{scores(answers)}")
        rest = interval(mine[1:], [answers[1:] for answers in theirs], 0)
        cells = interval(mine, theirs, 0), rest, interval(mine, theirs, 1)
        print("| gbu − mean of the seeds | " + " | ".join(map(between, cells)) + " |", flush=True)


def between(found: tuple[float, float, float]) -> str:
    """Return a difference and its interval as text."""
    low, value, high = found
    return f"{value:+.4f} [{low:+.4f}, {high:+.4f}]"


if __name__ == "__main__":
    main()
