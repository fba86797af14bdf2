"""Models of change over time in Python.

counts = wg.count_documents("speeches.jsonl", time_field="year", min_count=100)
model = wg.train_model(counts, "model", degree=2)
report = wg.measure_drift("model", permutations=999)
report.words[0].change.word
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wordgeom.api.counts import MatrixHandle, PathLike, file_path
from wordgeom.api.keywords import taken, takes, takes_any_of
from wordgeom.api.messages import public, run
from wordgeom.api.training import method_options, train
from wordgeom.drift.options import DriftOptions
from wordgeom.drift.report import DriftReport, ReportOptions
from wordgeom.methods.contract import MODEL
from wordgeom.methods.dlsa.model import DynamicModel
from wordgeom.runtime.run_options import UseOptions


@takes_any_of(*method_options(MODEL))
def train_model(
    documents: PathLike | MatrixHandle,
    out: PathLike,
    method: str = "dlsa",
    *,
    space: str | None = None,
    **options: Any,
) -> Any:
    """Fit a model to documents with times; options are those of `wordgeom train --method dlsa`.

    out: directory of the model. Raises WordgeomError.
    """
    return train(documents, method, out=out, space=space, **options)


@public
def open_model(path: PathLike) -> DynamicModel:
    """Open a dynamic model. Raises WordgeomError."""
    return DynamicModel.open(file_path(path))


@takes(DriftOptions, ReportOptions, UseOptions)
def measure_drift(
    model: PathLike | DynamicModel, words: Sequence[str] = (), **options: Any
) -> DriftReport:
    """Test which words of a model changed; options are those of `wordgeom drift`.

    model: a directory, or what `train_model` or `open_model` returned. words: reported instead of
    those that changed most. `to_dict()` is what --json prints. Raises WordgeomError.
    """
    from wordgeom.stages.drift import Drift

    testing, form, using = taken("measure_drift", options)
    named = (words,) if isinstance(words, str) else tuple(words)
    path = model.store.path if isinstance(model, DynamicModel) else file_path(model)
    report: DriftReport = run(Drift(path, testing, form, using, named)).value
    return report
