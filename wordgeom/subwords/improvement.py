"""Vectors of words plus those of their n-grams: v_w + ω r Σ_g a_wg z_g.

The z_g are fitted to the directions of the v_w (fit.py), r is the mean norm of the v_w, and ω the
weight. gbu's vectors of rare words are short, so their n-grams decide most of the sum. A word
without a vector has its n-grams alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core.errors import InputError, RankError
from wordgeom.core.formatting import several
from wordgeom.core.types import Array, Csr, Float32
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.subwords.counting import count_ngrams
from wordgeom.subwords.fit import fit_ngrams, working_bytes
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.options import SubwordOptions
from wordgeom.subwords.units.jamo import has_syllables
from wordgeom.subwords.units.morphs import Morphs
from wordgeom.subwords.units.names import JAMO
from wordgeom.subwords.units.unit import Unit
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.norms import row_norms, with_norms

_ENTRY, _ROW = 24, 200  # bytes of a share, in both directions; of a word or an n-gram


@dataclass(frozen=True, eq=False)
class Improved:
    """Vectors (V × K) with their n-grams, the model of these, facts of the fit, and notes."""

    vectors: Vectors
    model: SubwordModel
    statistics: dict[str, Any]
    notes: list[str]


def improve(vectors: Vectors, options: SubwordOptions, context: Context) -> Improved:
    """Return finite vectors with those of their n-grams added.

    Raises InputError where no n-gram occurs in enough words, all vectors are zero, or memory is
    insufficient, RankError where float32 cannot hold the result, and what reading the morphs
    raises.
    """
    unit = options.opened_unit()
    index, shares = count_ngrams(vectors.words, unit, options)
    check_fit_memory(shares, vectors.matrix, context)
    norms = row_norms(vectors.matrix)
    used = norms > 0
    if not used.any():
        raise InputError("every vector is zero", do="train again")
    directions = with_norms(vectors.matrix, used.astype(np.float64))
    fitted = fit_ngrams(shares_without(shares, used), directions, options.ngram_ridge, context)
    ops = context.ops
    parts = ops.to_numpy(ops.operator(shares).multiply(ops.tall(fitted, np.float32)))
    scale = options.ngram_weight * float(norms[used].mean())
    statistics = {
        "ngrams": len(index), "ngrams_in_words": shares.nnz,
        "words_without_ngrams": int(np.count_nonzero(np.diff(shares.indptr) == 0)),
        "zero_vectors": int(np.count_nonzero(~used)),
        "explained": 1.0 - _squares(directions - parts, used) / np.count_nonzero(used),
    }  # fmt: skip
    made, ngrams = _scaled(vectors.matrix, parts, fitted, scale)
    model = SubwordModel(options.unit, unit, options.lengths, index, ngrams)
    notes = _notes(vectors.words, unit, options, statistics)
    return Improved(Vectors(vectors.words, made), model, statistics, notes)


def _scaled(
    vectors: Float32, parts: Float32, ngrams: Float32, scale: float
) -> tuple[Float32, Float32]:
    """Return the vectors plus their parts (V × K) times `scale`, and the n-grams times it."""
    with np.errstate(over="ignore", invalid="ignore"):
        factor = np.float32(scale)
        made, scaled = np.asarray(vectors + factor * parts, np.float32), factor * ngrams
    if not (np.isfinite(made).all() and np.isfinite(scaled).all()):
        do = "lower --ngram-weight, or scale the vectors with wordgeom transform --normalise"
        raise RankError("vectors with their n-grams exceed the range of float32", do=do)
    return made, scaled


def _notes(
    words: Sequence[str], unit: Unit, options: SubwordOptions, statistics: dict[str, Any]
) -> list[str]:
    """Return notes on words that the unit does not cut, and on words without an n-gram."""
    notes = []
    if isinstance(unit, Morphs) and (absent := sum(word not in unit.table for word in words)):
        have = several(absent, "word is", "words are")
        notes.append(f"{have} not in {options.morphs}: one morph each")
    if options.unit == JAMO and not any(map(has_syllables, words)):
        notes.append("no word has a Hangul syllable: --unit jamo cuts words into code points")
    if without := statistics["words_without_ngrams"]:
        have = several(without, "word has", "words have")
        notes.append(f"{have} no n-gram with a vector: unchanged")
    return notes


def shares_without(shares: Csr, used: Array) -> Csr:
    """Return the shares with those of words that are not used set to 0."""
    data = shares.data * np.repeat(used, np.diff(shares.indptr)).astype(np.float32)
    return Csr(shares.indptr, shares.indices, data, shares.columns)


def _squares(residuals: Float32, used: Array) -> float:
    """Return the sum of squares of the rows that are used."""
    return float(np.sum(row_norms(residuals)[used] ** 2))


def check_fit_memory(shares: Csr, vectors: Float32, context: Context) -> None:
    """Raise InputError where a fit of n-grams (V × N shares) to vectors (V × K) exceeds memory."""
    words, columns = vectors.shape
    both = words + shares.columns
    needed = _ENTRY * shares.nnz + _ROW * both + 4 * columns * (4 * words + 2 * shares.columns)
    needed += working_bytes(words, shares.columns)
    what = f"{shares.columns:,} n-grams of {words:,} words, with vectors of {columns:,}"
    check_memory(what, needed, context.memory, "raise --memory, --min-words, or lower --dim")
