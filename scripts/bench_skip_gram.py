"""Skip-gram and fastText for the benchmarks: settings, and models trained once and stored."""

from __future__ import annotations

import itertools
import json
import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np
from bench_common import machine, watched
from bench_vectors import digest

from wordgeom.vectors.keyed import from_keyed_vectors, write_vectors

Returned = TypeVar("Returned")
Facts = dict[str, Any]
LONGEST = 10_000  # tokens of a line; gensim drops what lies beyond
GRID = ((5, 10, 15), (2, 5, 10), (5, 10, 15), (1e-3, 1e-4, 1e-5))


@dataclass(frozen=True)
class Setting:
    """Settings of skip-gram; rate: the learning rate, None for the program's default."""

    epochs: int
    window: int
    negative: int
    sample: float
    rate: float | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the setting of its string, such as 5-5-5-1e-4 or 5-5-5-1e-4@0.025."""
        numbers, _, rate = text.partition("@")
        epochs, window, negative, sample = numbers.split("-", 3)
        given = int(epochs), int(window), int(negative), float(sample)
        return cls(*given, float(rate) if rate else None)

    def __str__(self) -> str:
        numbers = f"{self.epochs}-{self.window}-{self.negative}-{self.sample:g}"
        return numbers if self.rate is None else f"{numbers}@{self.rate:g}"

    def rate_as(self, option: str) -> dict[str, float]:
        """Return the learning rate as an option of a program, nothing for its default."""
        return {} if self.rate is None else {option: self.rate}


DEFAULTS = Setting(5, 5, 5, 1e-3)


def settings() -> Iterator[Setting]:
    """Yield the defaults, then all other combinations in a random order."""
    yield DEFAULTS
    every = [Setting(*values) for values in itertools.product(*GRID)]
    for k in np.random.default_rng(1).permutation(len(every)):
        if every[k] != DEFAULTS:
            yield every[k]


@dataclass(frozen=True)
class Gensim:
    """gensim's Word2Vec, with one thread.

    Its faster mode, which reads the file itself, makes worse vectors (by .03 and .05 at its
    defaults).
    """

    seeds = (1, 2, 3)
    usage = resource.RUSAGE_SELF

    @property
    def name(self) -> str:
        """The name of the directory of models."""
        import gensim

        return f"skip-gram-{gensim.__version__}"

    def train(self, text: Path, setting: Setting, dim: int, seed: int, out: Path) -> Facts:
        """Train on a text with lines of at most LONGEST tokens, and write the vectors."""
        from gensim.models import Word2Vec
        from gensim.models.word2vec import LineSentence

        model = Word2Vec(
            LineSentence(str(text)), sg=1, vector_size=dim, window=setting.window, min_count=5,
            negative=setting.negative, sample=setting.sample, epochs=setting.epochs, seed=seed,
            workers=1, **setting.rate_as("alpha"),
        )  # fmt: skip
        made = from_keyed_vectors(model.wv)
        write_vectors(out, made.words, made.matrix)
        return {}


@dataclass(frozen=True)
class Program:
    """A program with the options of word2vec, such as pWord2Vec, with one thread.

    These programs have no option for a seed.
    """

    path: Path
    seeds = (1,)
    usage = resource.RUSAGE_CHILDREN

    @property
    def name(self) -> str:
        """The name of the directory of models."""
        return f"skip-gram-{self.path.name}"

    def train(self, text: Path, setting: Setting, dim: int, seed: int, out: Path) -> Facts:
        """Train on a text, and write the vectors."""
        given = {
            "train": text, "output": out, "size": dim, "window": setting.window,
            "negative": setting.negative, "sample": f"{setting.sample:g}", "iter": setting.epochs,
            "min-count": 5, "threads": 1, "binary": 1, **setting.rate_as("alpha"),
        }  # fmt: skip
        command = [
            str(self.path),
            *(word for key in given for word in (f"-{key}", f"{given[key]}")),
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return {}


@dataclass(frozen=True)
class FastText:
    """fastText's skip-gram with n-grams of 3 to 6 characters, with one thread."""

    path: Path
    name = "fastText"
    seeds = (1,)
    usage = resource.RUSAGE_CHILDREN

    def train(self, text: Path, setting: Setting, dim: int, seed: int, out: Path) -> Facts:
        """Train on a text, and keep the model alone; return its peak private memory in GB."""
        given = {
            "input": text, "output": out.with_suffix(""), "dim": dim, "ws": setting.window,
            "neg": setting.negative, "t": f"{setting.sample:g}", "epoch": setting.epochs,
            "minCount": 5, "thread": 1, "seed": seed,
            **setting.rate_as("lr"),
        }  # fmt: skip
        words = (word for key in given for word in (f"-{key}", f"{given[key]}"))
        peak = watched([str(self.path), "skipgram", "-verbose", "0", *words])
        out.with_suffix(".vec").unlink()  # the vectors as text
        return {"peak_gb": peak}


Trainer = Gensim | Program | FastText


class Corpus:
    """A text, and the models that a program trained on it.

    Several processes may share the work: each model is claimed by a file.
    """

    def __init__(self, name: str, results: Path, scratch: Path, trainer: Trainer) -> None:
        self.name, self.trainer, self._scratch = name, trainer, scratch
        self._folder = results / f"{trainer.name}-{digest(name)[:16]}"
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
        part = path.with_name(f"{stem.name}.part-{os.getpid()}.bin")
        try:
            text = self._lines()
            more, took = measured(
                lambda: self.trainer.train(text, setting, dim, seed, part), self.trainer.usage
            )
            facts = {"cpu_seconds": took, "machine": machine(), **more}
            stem.with_name(stem.name + ".json").write_text(json.dumps(facts))
            part.rename(path)
        finally:
            claim.unlink()
        return path

    def seconds(self, setting: Setting, dim: int, seed: int) -> float:
        """Return the processor seconds that a model took."""
        return float(self.facts(setting, dim, seed)["cpu_seconds"])

    def facts(self, setting: Setting, dim: int, seed: int) -> Facts:
        """Return what is stored beside a model: processor seconds, machine, what train returned."""
        found: Facts
        found = json.loads((self._folder / f"{setting}-{dim}-{seed}.json").read_text())
        return found

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


def measured(run: Callable[[], Returned], usage: int) -> tuple[Returned, float]:
    """Return what a call returned, and the processor seconds that it took.

    The usage is RUSAGE_SELF, or RUSAGE_CHILDREN for a program, which leaves out the thread that
    follows its memory.
    """
    start = resource.getrusage(usage)
    returned, end = run(), resource.getrusage(usage)
    return returned, end.ru_utime - start.ru_utime + end.ru_stime - start.ru_stime
