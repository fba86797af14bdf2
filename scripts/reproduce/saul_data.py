"""The data sets: words of a vectors file, and images, as vectors files in one directory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mnist_images
import numpy as np

from wordgeom.core.types import Float64, Int64
from wordgeom.evaluation.analogies import read_analogies
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.sets import gensim_sets
from wordgeom.linalg.exact_search import Searcher
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors, read_vectors, write_vectors
from wordgeom.vectors.norms import row_norms

WORDS, DIGITS = "words", "digits"
ANALOGIES = gensim_sets()[2]
_NEIGHBOURS = 15  # of each word of the analogies
_SHARE = 5  # one item in five is a landmark
_TINY = 1e-30  # divides zero vectors


@dataclass(frozen=True)
class Study:
    """The files of one kind of data.

    chosen: the items of most figures; few: the first of them; every: those that landmarks extend
    to; landmarks: how many of `every`.
    """

    name: str
    chosen: Path
    few: Path
    every: Path
    landmarks: int

    def text(self) -> str:
        """Return the numbers of items."""
        sizes = [len(read_vectors(path).words) for path in (self.chosen, self.few, self.every)]
        return "{}: {:,}; few: {:,}; all: {:,}, of which {:,} landmarks".format(
            self.name, *sizes, self.landmarks
        )


def word_study(
    path: Path, most: int, few: int, extended: int, folder: Path, context: Context
) -> Study:
    """Choose words of a vectors file, and write them; raises WordgeomError."""
    every = read_vectors(path)
    questions = read_analogies(ANALOGIES, EvalOptions()).questions
    found = {every.row(word.lower()) for question in questions for word in question}
    rows = np.array(sorted(row for row in found if row is not None), np.int64)
    lengths = np.maximum(row_norms(every.matrix), _TINY)
    near = _nearest(every.matrix / lengths[:, None], rows, context)
    chosen = np.unique(np.concatenate([np.arange(min(most, len(lengths))), rows, near]))
    return _study(WORDS, every, chosen, few, extended, folder)


def digit_study(files: Sequence[Path], most: int, few: int, extended: int, folder: Path) -> Study:
    """Write the first of MNIST's images as vectors of pixels; raises WordgeomError."""
    pixels = mnist_images.read(*files).pixels[:most]
    every = Vectors([f"image{k}" for k in range(len(pixels))], pixels)
    return _study(DIGITS, every, np.arange(len(pixels)), few, extended, folder)


def _nearest(points: Float64, rows: Int64, context: Context) -> Int64:
    found, _ = Searcher(points, context.pool).nearest(_NEIGHBOURS, queries=rows)
    return found.ravel().astype(np.int64)


def _study(
    name: str, every: Vectors, chosen: Int64, few: int, extended: int, folder: Path
) -> Study:
    def written(part: str, rows: Int64) -> Path:
        path = folder / f"{name}{part}.bin"
        write_vectors(path, [every.words[row] for row in rows], every.matrix[rows])
        return path

    whole = np.arange(len(every.words))[: extended or None]
    paths = written("", chosen), written("-few", chosen[:few]), written("-all", whole)
    return Study(name, *paths, len(whole) // _SHARE)
