"""The initial embeddings of Table 2's rows; missing vectors are random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from yao_firms import NAMES, Firms, anchors, known
from yao_imputing import EXACT, impute
from yao_passages import Folds, Passage, cut, fold

from wordgeom.core.errors import InputError, MissingInputError
from wordgeom.core.types import Array, Float32, Float64
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

SIGMA = 0.3  # standard deviation of random vectors, as in the paper; all vectors are scaled to it
MOST = 200  # passages of one name
_FEWEST = 4  # names; the vectors of half of them are removed
_SELF_COUNT, _SELF_EPOCHS = 10, 20  # minimum count of the paper; epochs over the small text
BASE, AFF = "base", "base + aff"
ROWS = ("self", "self + base", BASE, AFF, "base + mean", "base, none removed")


@dataclass(frozen=True, eq=False)
class Setting:
    """Data shared by all seeds: firms, scaled base vectors, passages, context."""

    firms: Firms
    base: Vectors
    passages: list[Passage]
    context: Context


@dataclass(frozen=True, eq=False)
class Start:
    """Data of one seed: folds, names in use, removed names, random vectors (V × K)."""

    folds: Folds
    names: list[str]
    removed: frozenset[str]
    noise: Float32
    seed: int


def read_passages(firms: Firms, vectors: Vectors, text: Path) -> list[Passage]:
    """Return the passages of a text file. Raises MissingInputError."""
    if not text.is_file():
        raise MissingInputError("no such file", where=text, do="check --text")
    names = [firms.words[k] for k in np.flatnonzero(known(firms, vectors, NAMES))]
    content = text.read_text(encoding="utf-8-sig", errors="replace")
    return cut(content, names, MOST, np.random.default_rng(1))


def scaled(vectors: Vectors) -> Vectors:
    """Return the vectors scaled to the standard deviation SIGMA of all their numbers."""
    size = float(np.std(vectors.matrix, dtype=np.float64))
    if not np.isfinite(size) or size == 0:
        raise InputError("vectors must differ and be finite", found=f"σ = {size}")
    return Vectors(vectors.words, vectors.matrix * np.float32(SIGMA / size))


def begin(setting: Setting, seed: int) -> Start:
    """Split passages and names at random. Raises InputError if there are too few names."""
    rng = np.random.default_rng(seed)
    folds = fold(setting.passages, rng)
    chosen = known(setting.firms, setting.base, NAMES)
    firms = {setting.firms.words[k] for k in np.flatnonzero(chosen)}
    names = [word for word in folds.words if word in firms]
    if len(names) < _FEWEST:
        raise InputError("too few names of firms in the text", found=len(names), do="add text")
    removed = frozenset(rng.permutation(names)[: len(names) // 2].tolist())
    shape = len(folds.words), setting.base.matrix.shape[1]
    noise = rng.normal(0, SIGMA, shape).astype(np.float32)
    return Start(folds, names, removed, noise, seed)


def embeddings(setting: Setting, start: Start) -> dict[str, Float32]:
    """Return the initial embedding (V × K) of each row."""
    own = self_trained(start)
    base = {word: setting.base.matrix[setting.base.index[word]]
            for word in start.folds.words if word in setting.base.index}  # fmt: skip
    rest = {word: vector for word, vector in base.items() if word not in start.removed}
    imputed = names_imputed(setting, start)
    others = [name for name in imputed if name not in start.removed]
    mean = np.mean([imputed[name] for name in others], axis=0)
    rows: tuple[Mapping[str, Array], ...] = (
        own,
        own | words_imputed(own, rest, setting.context),
        rest,
        rest | {name: imputed[name] for name in start.removed},
        rest | {name: mean for name in start.removed},
        base,
    )
    return {name: _matrix(row, start) for name, row in zip(ROWS, rows, strict=True)}


def self_trained(start: Start) -> dict[str, Float32]:
    """Return skip-gram vectors of the training passages, for words with at least 10 occurrences."""
    from gensim.models import Word2Vec

    sentences = [[start.folds.words[k] for k in passage] for passage in start.folds.train]
    model = Word2Vec(
        sentences, sg=1, vector_size=start.noise.shape[1], window=5, min_count=_SELF_COUNT,
        epochs=_SELF_EPOCHS, workers=1, seed=start.seed,
    )  # fmt: skip
    made = scaled(Vectors(list(model.wv.index_to_key), model.wv.vectors))
    return dict(zip(made.words, made.matrix, strict=True))


def words_imputed(
    own: Mapping[str, Float32], base: Mapping[str, Float32], context: Context
) -> dict[str, Float64]:
    """Return vectors for words of `base` without one in `own`, imputed with the base as domain."""
    words = list(base)
    has = np.array([word in own for word in words])
    given = np.array([own[word] for word in words if word in own], np.float64)
    made = impute(np.array([*base.values()], np.float64), has, given, EXACT, context).vectors
    return {words[k]: made[k] for k in np.flatnonzero(~has)}


def names_imputed(setting: Setting, start: Start) -> dict[str, Float64]:
    """Return vectors of all names; removed ones are imputed from the returns."""
    firms, chosen = setting.firms, known(setting.firms, setting.base, NAMES)
    left = chosen & np.array([word not in start.removed for word in firms.words])
    given = anchors(firms, setting.base, left)
    made = impute(firms.correlations, left, given, EXACT, setting.context).vectors
    return {firms.words[k]: made[k] for k in np.flatnonzero(chosen)}


def _matrix(vectors: Mapping[str, Array], start: Start) -> Float32:
    """Return the vectors of the vocabulary; missing ones are random."""
    made = start.noise.copy()
    for row, word in enumerate(start.folds.words):
        if word in vectors:
            made[row] = vectors[word]
    return made
