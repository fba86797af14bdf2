"""Vectors of words plus those of their n-grams: v_w + ω r Σ_g a_wg z_g.

The v_w are the given vectors with large singular values cut (spectrum.py). The z_g are fitted to
the directions of the v_w (fit.py); r is the mean norm of the v_w, and ω the weight. gbu's vectors
of rare words are short, so their n-grams decide most of the sum. A word without a vector has its
n-grams alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core.errors import InputError, RankError
from wordgeom.core.formatting import first_few, several
from wordgeom.core.types import Csr, Float32, Float64
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.subwords.counting import count_ngrams
from wordgeom.subwords.fit import fit_ngrams, word_weights, working_bytes
from wordgeom.subwords.model import FitSettings, SubwordModel
from wordgeom.subwords.options import SubwordOptions
from wordgeom.subwords.spectrum import Mapped, with_clipped_spectrum
from wordgeom.subwords.units.jamo import has_syllables
from wordgeom.subwords.units.morphs import Morphs
from wordgeom.subwords.units.names import JAMO
from wordgeom.subwords.units.unit import Unit
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.norms import row_norms

_ENTRY, _ROW = 24, 200  # bytes of a share, in both directions; of a word or an n-gram
_ROWS, _COLUMNS = 1 << 14, 32  # of a block


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
    check_fit_memory(shares, vectors.matrix.shape[1], context)
    used = row_norms(vectors.matrix) > 0
    if not used.any():
        raise InputError("every vector is zero", do="train again")
    own = with_clipped_spectrum(vectors.matrix, options.clip, context.ops)
    weights = word_weights(vectors.matrix, options.half_rank)
    ngrams = fit_ngrams(shares, own, weights, options.ngram_ridge, context)
    parts, norms = _parts(shares, ngrams, context), own.norms()
    lacking = [vectors.words[row] for row in np.flatnonzero(np.diff(shares.indptr) == 0).tolist()]
    statistics = {
        "ngrams": len(index), "ngrams_in_words": shares.nnz,
        "words_without_ngrams": len(lacking),
        "zero_vectors": int(np.count_nonzero(~used)),
        "explained": _explained(own, norms, parts, weights),
    }  # fmt: skip
    scale = options.ngram_weight * float(norms[used].mean())
    made = _added(own, parts, ngrams, scale)
    fit = FitSettings(float(options.ngram_ridge), float(options.half_rank))
    model = SubwordModel(options.unit, unit, options.lengths, index, ngrams, fit=fit)
    notes = _notes(vectors.words, unit, options, lacking)
    return Improved(Vectors(vectors.words, made), model, statistics, notes)


def _parts(shares: Csr, ngrams: Float32, context: Context) -> Float32:
    """Return Σ_g a_wg z_g of each word (V × K)."""
    ops, parts = context.ops, np.empty((len(shares.indptr) - 1, ngrams.shape[1]), np.float32)
    operator = ops.operator(shares)
    for at in range(0, ngrams.shape[1], _COLUMNS):
        block = slice(at, at + _COLUMNS)
        parts[:, block] = ops.to_numpy(operator.multiply(ops.tall(ngrams[:, block], np.float32)))
    return parts


def _explained(vectors: Mapped, norms: Float64, parts: Float32, weights: Float64) -> float:
    """Return the share of the weighted squares of directions that the n-grams explain."""
    left = 0.0
    for rows in vectors.blocks():
        own = np.where(norms[rows] > 0, norms[rows], 1.0)[:, None]
        left += float(weights[rows] @ np.square(vectors.rows(rows) / own - parts[rows]).sum(axis=1))
    total = float(weights.sum())
    return 1.0 - left / total if total > 0.0 else 0.0


def _added(vectors: Mapped, parts: Float32, ngrams: Float32, scale: float) -> Float32:
    """Return the vectors plus their parts (V × K) times `scale`, and scale the n-grams too.

    Both in the arrays given, since a third and a fourth would not fit beside them.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        for array in (parts, ngrams):
            array *= np.float32(scale)
        for rows in vectors.blocks():
            parts[rows] += vectors.rows(rows)
    finite = all(
        np.isfinite(array[at : at + _ROWS]).all()
        for array in (parts, ngrams)
        for at in range(0, len(array), _ROWS)
    )
    if not finite:
        do = "lower --ngram-weight, or scale the vectors with wordgeom transform --normalise"
        raise RankError("vectors with their n-grams exceed the range of float32", do=do)
    return parts


def _notes(
    words: Sequence[str], unit: Unit, options: SubwordOptions, lacking: Sequence[str]
) -> list[str]:
    """Return notes on words that the unit does not cut, and on words without an n-gram."""
    notes = []
    if isinstance(unit, Morphs) and (absent := sum(word not in unit.table for word in words)):
        have = several(absent, "word is", "words are")
        notes.append(f"{have} not in {options.morphs}: one morph each")
    if options.unit == JAMO and not any(map(has_syllables, words)):
        notes.append("no word has a Hangul syllable: --unit jamo cuts words into code points")
    if lacking:
        have = several(len(lacking), "word has no n-gram", "words have no n-grams")
        keep = "keeps its own vector" if len(lacking) == 1 else "keep their own vectors"
        notes.append(f"{have} with a vector and {keep}: {first_few(lacking)}")
    return notes


def check_ngrams(
    words: Sequence[str], columns: int, options: SubwordOptions, context: Context
) -> None:
    """Raise before training what `improve` raises of n-grams and memory for vectors (V × K)."""
    _, shares = count_ngrams(words, options.opened_unit(), options)
    check_fit_memory(shares, columns, context)


def check_fit_memory(shares: Csr, columns: int, context: Context) -> None:
    """Raise InputError where a fit of n-grams (V × N shares) to K columns exceeds memory."""
    words = shares.rows
    both = words + shares.columns
    needed = _ENTRY * shares.nnz + _ROW * both + 4 * columns * (2 * words + shares.columns)
    needed += max(working_bytes(words, shares.columns), 8 * _COLUMNS * both)
    what = f"{shares.columns:,} n-grams of {words:,} words, with vectors of {columns:,}"
    do = "raise --memory or --min-words, or pass shorter --subwords"
    check_memory(what, needed, context.memory, do)
