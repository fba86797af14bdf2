"""A subword model whose n-grams are fitted again, to some of the words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wordgeom.core.types import Array, Csr, Float32
from wordgeom.runtime.context import Context
from wordgeom.subwords.fit import fit_ngrams
from wordgeom.subwords.improvement import check_fit_memory, shares_without
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.options import SubwordOptions
from wordgeom.vectors.norms import row_norms, with_norms


def refitted(
    model: SubwordModel, shares: Csr, vectors: Float32, chosen: Array, context: Context
) -> SubwordModel:
    """Return the model with its n-grams fitted to the directions of the chosen words (V) alone.

    shares (V × N): of the n-grams in words; vectors (V × K). Raises InputError where memory is
    insufficient.
    """
    check_fit_memory(shares, vectors, context)
    used = chosen & (row_norms(vectors) > 0)
    directions = with_norms(vectors, used.astype(np.float64))
    ridge = SubwordOptions().ngram_ridge
    fitted = fit_ngrams(shares_without(shares, used), directions, ridge, context)
    return replace(model, vectors=fitted)
