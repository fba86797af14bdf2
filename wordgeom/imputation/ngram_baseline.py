"""A baseline of the validation: the vector that the n-grams of a hidden word give it.

The n-grams of a model were fitted to all words, the hidden ones included, and are part of the
vectors of all. For each fold they are therefore fitted again, without the hidden words, to the
vectors from which those of the n-grams have been subtracted.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.imputation.baselines import Baseline, Predict
from wordgeom.imputation.trust import NGRAMS
from wordgeom.runtime.context import Context
from wordgeom.runtime.progress import Progress
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.refit import refitted
from wordgeom.vectors.keyed import Vectors

_NOTE = (
    "n-grams are fitted without the hidden words, but the hidden vectors include their n-grams: "
    "compare with vectors that do not"
)


def ngram_baseline(
    vectors: Vectors, model: SubwordModel, rows: Int64, context: Context
) -> Baseline:
    """Return the baseline of vectors that include their n-grams; rows (p): of the anchors."""
    return Baseline(NGRAMS, lambda order: _ngrams(vectors, model, rows[order], context), _NOTE)


def _ngrams(vectors: Vectors, model: SubwordModel, rows: Int64, context: Context) -> Predict:
    """Return a predictor of the vectors at `rows` (p)."""
    context = replace(context, progress=Progress())  # that of the validation is shown
    words = vectors.words
    shares, alone = model.shares(words), vectors.matrix - model.vectors_of(words)

    def predict(hidden: Int64, visible: Int64) -> Float64:
        chosen: Array = np.ones(len(words), np.bool_)
        chosen[rows[hidden]] = False
        fitted = refitted(model, shares, alone, chosen, context)
        asked = [words[row] for row in rows[hidden].tolist()]
        return fitted.vectors_of(asked).astype(np.float64)

    return predict
