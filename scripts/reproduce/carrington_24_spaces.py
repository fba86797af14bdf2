"""Spaces of words (LSA, skip-gram) and their scores (similarity sets, analogies)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import wordgeom as wg
from wordgeom.core.types import Array, Float64
from wordgeom.evaluation.answers import Answers, Task
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.sets import gensim_sets, read_set
from wordgeom.evaluation.similarity import MEASURES
from wordgeom.linalg.device import open_context
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import UseOptions
from wordgeom.vectors.keyed import Vectors, read_vectors

SPEARMAN, PEARSON = MEASURES
WORDSIM, SIMLEX, ANALOGIES = gensim_sets()
# The thesis's name of a set: names of its files.
SETS: Mapping[str, tuple[str, ...]] = {
    "Verb-143": ("EN-VERB-143",), "YP-130": ("EN-YP-130",), "MTurk-287": ("EN-MTurk-287",),
    "MTurk-771": ("EN-MTurk-771",), "SimVerb-3500": ("EN-SimVerb-3500", "SimVerb-3500"),
    "SimLex-999": ("simlex999",), "WordSim-353": ("wordsim353",),
}  # fmt: skip


@dataclass(frozen=True)
class Judges:
    """Similarity sets by the thesis's name, the analogies, and what an evaluation runs on."""

    files: Mapping[str, Path]
    sets: Mapping[str, Task]
    analogies: Task
    context: Context

    def only(self, *names: str) -> Judges:
        """Return the same with some of the sets."""
        return replace(self, sets={name: self.sets[name] for name in names})

    def correlations(self, space: Vectors) -> dict[str, tuple[float, float]]:
        """Return Pearson's and Spearman's correlation of each set."""
        found = {name: task.answer(space, self.context) for name, task in self.sets.items()}
        return {name: (one.score(PEARSON), one.score(SPEARMAN)) for name, one in found.items()}

    def answers(self, space: Vectors) -> Answers:
        """Return the answers to the analogies."""
        return self.analogies.answer(space, self.context)

    def accuracy(self, space: Vectors) -> float:
        """Return the share of analogies solved by 3CosAdd."""
        answers = self.answers(space)
        return answers.score(answers.measures[0])


@contextmanager
def judges(files: Sequence[Path], threads: int) -> Iterator[tuple[Judges, list[str]]]:
    """Read the sets; yield them and the names of sets that are not at hand."""
    given = {path.stem: path for path in (WORDSIM, SIMLEX, *files)}
    found = {name: next((given[stem] for stem in stems if stem in given), None)
             for name, stems in SETS.items()}  # fmt: skip
    paths = {name: path for name, path in found.items() if path is not None}
    options = EvalOptions()
    sets = {name: read_set(path, options) for name, path in paths.items()}
    with open_context(UseOptions(threads=threads)) as context:
        held = Judges(paths, sets, read_set(ANALOGIES, options), context)
        yield held, [name for name in SETS if name not in sets]


@dataclass(frozen=True)
class Lsa:
    """The SVD of weighted documents: words, V (words × r), singular values (r), descending."""

    words: list[str]
    V: Array
    values: Float64

    def space(self, r: int, alpha: float) -> Vectors:
        """Return word vectors Vᵣ Φᵣ^α."""
        return self.scaled(r, self.values**alpha)

    def scaled(self, r: int, scale: Float64) -> Vectors:
        """Return word vectors Vᵣ with columns times `scale` (at least r)."""
        return named(self.words, self.V[:, :r] * (scale[:r] / scale[:r].max()))


def lsa(documents: Path, weight: str, r: int, threads: int) -> Lsa:
    """Return the truncated SVD of documents."""
    model = wg.train(documents, "lsa", dim=r, weight=weight, threads=threads)
    values = np.array(model.statistics["spectrum"])
    return Lsa(model.words, model.vectors.astype(np.float64), values)


def skip_grams(files: Sequence[Path]) -> dict[int, Vectors]:
    """Read skip-gram vectors, by dimension."""
    return {space.matrix.shape[1]: space for space in map(read_vectors, files)}


def named(words: list[str], matrix: Array) -> Vectors:
    """Return vectors of words in float32, scaled by one number to stay in its range."""
    return Vectors(words, np.ascontiguousarray(matrix / np.abs(matrix).max(), np.float32))
