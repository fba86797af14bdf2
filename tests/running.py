"""Stages as functions of plain arguments, for tests that run many of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wordgeom.corpus.options import CorpusOptions, PassageOptions
from wordgeom.counts.merge_options import MergeOptions
from wordgeom.counts.windows import WindowOptions
from wordgeom.drift.options import DriftOptions
from wordgeom.drift.report import DriftReport, ReportOptions
from wordgeom.evaluation.answers import Task
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.report import Report
from wordgeom.formats.options import ConvertOptions
from wordgeom.imputation.domain import DomainOptions
from wordgeom.imputation.options import ImputeOptions
from wordgeom.methods import load
from wordgeom.methods.inputs import settings_of
from wordgeom.runtime.run_options import ResumeOptions, RunOptions, UseOptions
from wordgeom.stages.build_cooc import BuildCooc
from wordgeom.stages.build_dtm import BuildDtm
from wordgeom.stages.build_pmi import BuildPmi
from wordgeom.stages.convert import conversion
from wordgeom.stages.drift import Drift
from wordgeom.stages.evaluate import Evaluate
from wordgeom.stages.extend import Extend
from wordgeom.stages.impute import Impute
from wordgeom.stages.merging.stage import Merge
from wordgeom.stages.shard import Shard
from wordgeom.stages.stage import Outcome, Stage, run_stage
from wordgeom.stages.train import Train
from wordgeom.storage.store import Store
from wordgeom.subwords.open_vocabulary import OpenVocabulary
from wordgeom.vectors.keyed import Vectors
from wordgeom.weighting.options import PmiOptions

PathLike = str | os.PathLike[str]
_NO_RESUME = ResumeOptions()
_WHOLE = PassageOptions()


class Done:
    """The outcome of a stage, with the names that its kind of output suggests."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.summary, self.notes, self.lines = outcome.summary, outcome.notes, outcome.lines
        self.statistics, self.status = outcome.statistics, outcome.status
        self.value: Any = outcome.value

    @property
    def store(self) -> Store:
        """The store that was made."""
        assert isinstance(self.value, Store)
        return self.value

    @property
    def vectors(self) -> Vectors | None:
        """The vectors that were made, None where the output was up to date."""
        vectors: Vectors | None = getattr(self.value, "vectors", self.value)
        return vectors


def _run(stage: Stage, show: bool = False) -> Done:
    return Done(run_stage(stage, show=show))


def build_cooc(
    names: Sequence[PathLike], out: PathLike, corpus: CorpusOptions, window: WindowOptions,
    run: RunOptions, *, shard: Shard | None = None, save_vocab: PathLike | None = None,
    resume: ResumeOptions = _NO_RESUME, show: bool = False,
) -> Done:  # fmt: skip
    """Count co-occurrences."""
    files = tuple(os.fspath(name) for name in names)
    save = None if save_vocab is None else Path(save_vocab)
    return _run(BuildCooc(files, Path(out), corpus, run, resume, save, window, shard), show)


def build_dtm(
    names: Sequence[PathLike], out: PathLike, corpus: CorpusOptions, run: RunOptions, *,
    save_vocab: PathLike | None = None, resume: ResumeOptions = _NO_RESUME,
    splitting: PassageOptions = _WHOLE,
) -> Done:  # fmt: skip
    """Count the words of documents."""
    files = tuple(os.fspath(name) for name in names)
    save = None if save_vocab is None else Path(save_vocab)
    return _run(BuildDtm(files, Path(out), corpus, run, resume, save, splitting))


def build_pmi(
    counts: PathLike, out: PathLike, options: PmiOptions, run: RunOptions, *,
    resume: ResumeOptions = _NO_RESUME,
) -> Done:  # fmt: skip
    """Weight counts."""
    return _run(BuildPmi(Path(counts), Path(out), options, run, resume))


def merge_cooc(
    paths: Sequence[PathLike], out: PathLike, run: RunOptions, *,
    resume: ResumeOptions = _NO_RESUME, **options: bool,
) -> Done:  # fmt: skip
    """Add up, subtract or unite counts, or append documents."""
    files = tuple(os.fspath(path) for path in paths)
    return _run(Merge(files, Path(out), run, resume, MergeOptions(**options)))


def train(
    matrix: PathLike, method: str, values: dict[str, Any], run: RunOptions, *,
    out: PathLike | None, documents: PathLike | None = None, space: str | None = None,
) -> Done:  # fmt: skip
    """Run a method."""
    first = next(iter(settings_of(load(method))))
    given = {**values, first: os.fspath(matrix)}
    given |= {} if documents is None else {"documents": os.fspath(documents)}
    given |= {} if space is None else {"space": space}
    target = None if out is None else Path(out)
    return _run(Train(method, given, target, run, ResumeOptions.take(values)))


def extend(
    vectors: PathLike | Vectors, counts: PathLike, values: dict[str, Any], run: RunOptions, *,
    out: PathLike | None, space: str | None = None,
) -> Done:  # fmt: skip
    """Infer vectors of out-of-vocabulary words."""
    target = None if out is None else Path(out)
    resume = ResumeOptions.take(values)
    return _run(Extend(vectors, Path(counts), values, run, target, resume, space))


def impute(
    domain: PathLike, vectors: PathLike | Vectors, values: dict[str, Any], run: RunOptions, *,
    out: PathLike | None, table: PathLike | None = None,
) -> Done:  # fmt: skip
    """Impute the vectors of entities."""
    target = None if out is None else Path(out)
    beside = None if table is None else Path(table)
    of_domain, options = DomainOptions.take(values), ImputeOptions.take(values)
    resume = ResumeOptions.take(values)
    stage = Impute(Path(domain), vectors, of_domain, options, run, target, beside, resume)
    return _run(stage)


def convert(
    source: PathLike, target: PathLike, *, source_format: str | None = None,
    target_format: str | None = None, **values: Any,
) -> Done:  # fmt: skip
    """Convert vectors or a matrix."""
    options, run = ConvertOptions.take(values), RunOptions.take(values)
    return _run(conversion(Path(source), Path(target), source_format, target_format, options, run))


def evaluate(
    vectors: PathLike | Vectors, tasks: Sequence[Task], options: EvalOptions, run: UseOptions
) -> Report:
    """Evaluate vectors."""
    read = OpenVocabulary(vectors) if isinstance(vectors, Vectors) else os.fspath(vectors)
    report: Report = _run(Evaluate(read, str(vectors), tasks, options, run)).value
    return report


def drift(
    model: PathLike, options: DriftOptions, form: ReportOptions, run: UseOptions, *,
    words: Sequence[str] = (),
) -> DriftReport:  # fmt: skip
    """Test a model for change."""
    report: DriftReport = _run(Drift(Path(model), options, form, run, tuple(words))).value
    return report
