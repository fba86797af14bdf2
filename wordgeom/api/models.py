"""Models of change over time in Python.

counts = wg.count_documents("speeches.jsonl", time_field="year", min_count=100)
model = wg.train_model(counts, "model", degree=2)
report = wg.measure_drift("model", permutations=999)
report.words[0].change.word
wg.measure_drift("now.bin", from_="then.bin", measure="procrustes").to_frame()
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordgeom.api.counts import MatrixHandle, PathLike, file_path
from wordgeom.api.keywords import taken, takes, takes_any_of
from wordgeom.api.messages import public, run
from wordgeom.api.training import method_options, train
from wordgeom.api.vectors import Model, source_of
from wordgeom.core.errors import OptionError
from wordgeom.drift.measures.options import MeasureOptions
from wordgeom.drift.measures.report import MeasureReport
from wordgeom.drift.options import DriftOptions
from wordgeom.drift.report import DriftReport, ReportOptions
from wordgeom.methods.contract import MODEL
from wordgeom.methods.dlsa.model import DynamicModel
from wordgeom.runtime.run_options import ResumeOptions, UseOptions

if TYPE_CHECKING:
    from gensim.models import KeyedVectors


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


@takes(DriftOptions, MeasureOptions, ReportOptions, ResumeOptions, UseOptions)
def measure_drift(
    model: PathLike | DynamicModel | Model | KeyedVectors,
    words: Sequence[str] = (),
    *,
    from_: PathLike | Model | KeyedVectors | None = None,
    **options: Any,
) -> Any:
    """Test which words of a model changed; options are those of `wordgeom drift`.

    model: a directory, or what `train_model` or `open_model` returned; with from_, the later
    vectors. from_: the earlier vectors, for `measure="procrustes"` or `"neighbours"`. words:
    reported instead of those that changed most. Returns a drift report; `to_dict()` is what --json
    prints. Raises WordgeomError.
    """
    testing, measure, form, resume, using = taken("measure_drift", options)
    named = (words,) if isinstance(words, str) else tuple(words)
    if measure.measure is not None or from_ is not None:
        return _measured(model, from_, (measure, testing, form, using, named, resume))
    from wordgeom.stages.drift import Drift

    stage = Drift(_path(model), testing, form, using, named, resume)
    report: DriftReport = run(stage).value
    return report


def _measured(model: Any, start: Any, settings: Sequence[Any]) -> MeasureReport:
    from wordgeom.stages.measure_change import MeasureChange

    measure, testing, form, using, named, resume = settings
    first = None if start is None else _vectors_or_path(start)
    try:
        stage = MeasureChange(
            _vectors_or_path(model), measure, testing, form, using, named, first, resume
        )
    except OptionError as error:  # the flag of another function is spelt alike
        error.reword(lambda text: text.replace("--from", "from_"))
        raise
    report: MeasureReport = run(stage).value
    return report


def _vectors_or_path(source: Any) -> Any:
    known = isinstance(source, (str, os.PathLike, DynamicModel))
    return _path(source) if known else source_of(source)


def _path(model: Any) -> Path:
    return model.store.path if isinstance(model, DynamicModel) else file_path(model)
