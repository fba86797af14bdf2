"""A subword model whose n-grams are fitted again, to some of the words."""

from __future__ import annotations

from dataclasses import replace

from wordgeom.core.types import Array, Csr, Float32
from wordgeom.runtime.context import Context
from wordgeom.subwords.fit import fit_ngrams, word_weights
from wordgeom.subwords.improvement import check_fit_memory
from wordgeom.subwords.model import FitSettings, SubwordModel
from wordgeom.subwords.options import SubwordOptions
from wordgeom.subwords.spectrum import Mapped


def refitted(
    model: SubwordModel, shares: Csr, vectors: Float32, chosen: Array, context: Context
) -> SubwordModel:
    """Return the model with its n-grams fitted to the directions of the chosen words (V) alone.

    As they were fitted before, or at the defaults if the model does not say. shares (V × N): of the
    n-grams in words; vectors (V × K). Raises InputError where memory is insufficient.
    """
    check_fit_memory(shares, vectors.shape[1], context)
    defaults = SubwordOptions()
    fit = model.fit or FitSettings(defaults.ngram_ridge, defaults.half_rank)
    weights = word_weights(vectors, fit.half_rank) * chosen
    given = Mapped(vectors, context.ops)
    return replace(model, vectors=fit_ngrams(shares, given, weights, fit.ridge, context))
