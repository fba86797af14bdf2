"""The public functions of change over time.

counts = wg.count_documents("speeches.jsonl", time_field="year", min_count=100)
model = wg.train_model(counts, "model", degree=2)
report = wg.measure_drift("model", permutations=999)
report.words[0].change.word
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from wordgeom.api.vectors import MatrixHandle
from wordgeom.checkpoint.state import ResumeOptions
from wordgeom.core.keywords import options_of, plain
from wordgeom.drift.options import DriftOptions
from wordgeom.drift.report import DriftReport, ReportOptions
from wordgeom.linalg.options import DeviceOptions
from wordgeom.methods import load as load_method
from wordgeom.methods.dlsa.model import DynamicModel
from wordgeom.runtime.run_options import RunOptions, UseOptions
from wordgeom.weighting.options import DocumentOptions

PathLike = str | os.PathLike[str]


def train_model(
    documents: PathLike | MatrixHandle,
    out: PathLike,
    method: str = "dlsa",
    *,
    space: str | None = None,
    **options: Any,
) -> DynamicModel:
    """Fit a model of words over time; options are those of `wordgeom train --method dlsa`.

    out: the model's folder, which names the counts; at: times at which vectors are written beside
    it. Raises a WordgeomError.
    """
    from wordgeom.stages import train_model as modelling

    common = (DocumentOptions, DeviceOptions, ResumeOptions, RunOptions)
    *_, run = options_of("train_model", options, load_method(method).Options, *common)
    source = documents.path if isinstance(documents, MatrixHandle) else documents
    return modelling.train_model(source, method, plain(options), run, out=out, space=space).model


def open_model(path: PathLike) -> DynamicModel:
    """Open a model that was made before. Raises a WordgeomError."""
    return DynamicModel.open(path)


def measure_drift(model: PathLike, words: Sequence[str] = (), **options: Any) -> DriftReport:
    """Test whether words changed; options are those of `wordgeom drift`.

    words: those to tell of, else those that changed most. `to_dict()` is what --json prints.
    Raises a WordgeomError.
    """
    from wordgeom.stages import drift

    testing, form, run = options_of(
        "measure_drift", options, DriftOptions, ReportOptions, UseOptions
    )
    named = [words] if isinstance(words, str) else words
    return drift.drift(model, testing, form, run, words=named)
