"""The data sets: words of a vectors file, and images, as vectors files in one directory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import mnist_images
import numpy as np

from wordgeom.core.types import Array, Float64
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


def word_study(path: Path, most: int, few: int, folder: Path, context: Context) -> Study:
    """Choose words of a vectors file, and write them; raises WordgeomError."""
    every = read_vectors(path)
    questions = read_analogies(ANALOGIES, EvalOptions()).questions
    asked = {every.row(word.lower()) for question in questions for word in question} - {None}
    rows = np.array(sorted(row for row in asked if row is not None), np.int64)
    points = every.matrix / np.maximum(row_norms(every.matrix), 1e-30)[:, None]
    near = _nearest(points, rows, context)
    chosen = np.unique(np.concatenate([np.arange(min(most, len(points))), rows, near]))
    return _study(WORDS, every, chosen, few, path, folder)


def digit_study(files: Sequence[Path], most: int, few: int, folder: Path) -> Study:
    """Write the first of MNIST's images as vectors of pixels; raises WordgeomError."""
    pixels = mnist_images.read(*files).pixels[:most]
    every = Vectors([f"image{k}" for k in range(len(pixels))], pixels)
    return _study(DIGITS, every, np.arange(len(pixels)), few, folder / "digits.bin", folder)


def _nearest(points: Float64, rows: Array, context: Context) -> Array:
    found, _ = Searcher(points, context.pool).nearest(_NEIGHBOURS, queries=rows)
    return found.ravel().astype(np.int64)


def _study(name: str, every: Vectors, chosen: Array, few: int, whole: Path, folder: Path) -> Study:
    paths = folder / f"{name}.bin", folder / f"{name}-few.bin"
    for path, rows in zip(paths, (chosen, chosen[:few]), strict=True):
        write_vectors(path, [every.words[row] for row in rows], every.matrix[rows])
    return Study(name, *paths, whole, len(every.words) // _SHARE)
