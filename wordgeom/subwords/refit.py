"""A subword model whose n-grams are fitted again, to some of the words."""

from __future__ import annotations

from dataclasses import replace

from wordgeom.core.types import Array, Csr, Float32
from wordgeom.runtime.context import Context
from wordgeom.subwords.fit import fit_ngrams, word_weights
from wordgeom.subwords.improvement import check_fit_memory
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.options import SubwordOptions


def refitted(
    model: SubwordModel, shares: Csr, vectors: Float32, chosen: Array, context: Context
) -> SubwordModel:
    """Return the model with its n-grams fitted to the directions of the chosen words (V) alone.

    shares (V × N): of the n-grams in words; vectors (V × K). Raises InputError where memory is
    insufficient.
    """
    check_fit_memory(shares, vectors, context)
    defaults = SubwordOptions()
    weights = word_weights(vectors, defaults.half_rank) * chosen
    return replace(
        model, vectors=fit_ngrams(shares, vectors, weights, defaults.ngram_ridge, context)
    )
