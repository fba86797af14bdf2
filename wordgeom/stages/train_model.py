"""The stage that fits a model of documents with times, and has words written at chosen times."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from wordgeom import methods
from wordgeom.checkpoint.method_state import StoredCheckpoint
from wordgeom.checkpoint.state import Kept, ResumeOptions, state_folder
from wordgeom.core.errors import InputError, OptionError, RankError
from wordgeom.core.formatting import plural, several
from wordgeom.core.options import Options
from wordgeom.corpus.vocabulary import Vocabulary, read_words
from wordgeom.linalg.device import open_context
from wordgeom.linalg.options import DeviceOptions
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.matrices.times import Times, parse_times
from wordgeom.methods.contract import Result
from wordgeom.methods.dlsa.model import DLSA, DynamicModel, write_model
from wordgeom.methods.dlsa.polynomials import Polynomials
from wordgeom.runtime import provenance
from wordgeom.runtime.context import Context
from wordgeom.runtime.provenance import Clock
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.counting import readable, up_to_date
from wordgeom.stages.model_vectors import AtTimes
from wordgeom.stages.train import open_for
from wordgeom.storage import store
from wordgeom.storage.files import same_file
from wordgeom.storage.store import StoreWriter
from wordgeom.vectors import run_card
from wordgeom.weighting.documents import WeightedDocuments
from wordgeom.weighting.options import DocumentOptions

_NAMED = 5  # unknown words that are named


@dataclass
class Modelled:
    """A model that a method made, or found up to date; lines: of what was written beside it."""

    model: DynamicModel
    summary: str
    lines: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Job:
    """What was asked for: everything that is known before the fit."""

    counts: StoredDocuments
    out: Path
    module: ModuleType
    options: Options
    weighting: DocumentOptions
    device: DeviceOptions
    resume: ResumeOptions
    run: RunOptions
    moving: list[str] | None
    request: dict[str, Any]
    show: bool


def train_model(
    documents: str | os.PathLike[str],
    method: str,
    values: dict[str, Any],
    run: RunOptions,
    *,
    out: str | os.PathLike[str],
    space: str | None = None,
    show: bool = False,
) -> Modelled:
    """Fit a model to the counts by document by `method`, with its options in `values`.

    out: folder of the model, beside which vectors at the times of `at` are written; space: replaces
    white space in their words. Raises what the method raises, OutputExistsError, InputError.
    """
    module = methods.load(method)
    counts = _counts(documents, method, out)
    options: Options = module.Options.take(values)
    folder = Path(out)
    if folder.name in ("", ".."):  # names a folder without saying its name
        folder = Path(os.path.abspath(folder))
    job = _job(module, method, options, values, counts, run, folder, show)
    asked = AtTimes.of(folder, counts.vocabulary.words, vars(options), job.request, space)
    made = None if run.force else _made(job)
    if made is None:
        asked.refuse_others(force=run.force)
        made = _fit(job)
    made.lines, notes = asked.write(made.model, force=run.force)
    made.notes += notes
    return made


def _counts(
    path: str | os.PathLike[str], method: str, out: str | os.PathLike[str]
) -> StoredDocuments:
    """Open the counts; raises InputError for others, OptionError where `out` is their folder."""
    counts = open_for(path, method)
    assert isinstance(counts, StoredDocuments)
    if same_file(Path(path), Path(out)):
        what = "is both the counts and the model"
        raise OptionError(what, where=out, do="name another folder with -o")
    return counts


def _job(
    module: ModuleType,
    method: str,
    options: Options,
    values: dict[str, Any],
    counts: StoredDocuments,
    run: RunOptions,
    out: Path,
    show: bool,
) -> _Job:
    wanted = {**module.weighting(options), **values}
    weighting, device = DocumentOptions.take(wanted), DeviceOptions.take(values)
    asked = {"method": method, **options.result_options(), **weighting.result_options()}
    asked |= {**device.result_options(), "seed": run.seed}
    inputs, moving = [{"digest": counts.store.digest}], None
    path = getattr(options, "moving", None)
    if path is not None:
        moving = read_words(path)
        inputs.append({"digest": run_card.file_content(Path(path))["sha256"]})
    request = {"command": "train", "options": asked, "inputs": inputs}
    resume = ResumeOptions.take(values)
    return _Job(counts, out, module, options, weighting, device, resume, run, moving, request, show)


def _made(job: _Job) -> Modelled | None:
    """Return the model if it is there as asked for; raises OutputExistsError for another."""
    if not store.exists(job.out):
        return None
    made = readable(job.out, DLSA)
    run_card.check_same_request(job.out, job.request, made.request, "matrix or file of words")
    summary = up_to_date(made, job.request).summary
    return Modelled(DynamicModel.open(job.out), summary)


def _fit(job: _Job) -> Modelled:
    """Fit the model and write it, whole or not at all."""
    clock, counts = Clock(), job.counts
    times = parse_times(counts.documents(), counts.names())
    if times.problem is not None and not len(times.known):
        what = f"none of {plural(len(times.values), 'document')} has a time that can be read"
        do = "name their field: wordgeom build-dtm --time-field"
        raise InputError(what, where=counts.path, found=str(times.problem), do=do)
    notes = _moving_notes(job, counts.vocabulary)
    kept = Kept(state_folder(job.out), job.request, job.resume, force=job.run.force)
    with (
        kept.stoppable(),
        open_context(job.run, job.device.device, show=job.show) as context,
        StoreWriter(job.out, DLSA) as writer,
    ):
        result = _result(job, times, context, StoredCheckpoint(kept))
        told = {
            "trend": job.request["options"]["trend"], "weight": job.weighting.weight,
            "source": counts.store.digest,
        }  # fmt: skip
        polynomials = Polynomials.of(result.arrays["times"], job.request["options"]["degree"])
        attributes = write_model(writer, counts.vocabulary, result.arrays, polynomials, told)
        notes += result.notes
        card = provenance.card(job.request, result.statistics, clock.seconds())
        parent = os.path.relpath(counts.path, job.out)
        writer.commit(attributes, card | {"parent": parent, "notes": notes})
    kept.remove()
    model = DynamicModel.open(job.out)
    return Modelled(model, _summary(model, result.statistics, clock), notes=notes)


def _result(job: _Job, times: Times, context: Context, checkpoint: StoredCheckpoint) -> Result:
    weighted = WeightedDocuments(job.counts, job.weighting, context.pool)
    context = replace(context, checkpoint=checkpoint)
    inputs = {"documents": weighted, "times": times, "moving": job.moving}
    result: Result = job.module.fit(inputs, job.options, context)
    if not all(np.isfinite(array).all() for array in result.arrays.values()):
        raise RankError("the vectors are not finite", do="lower --dim, or report this")
    return result


def _moving_notes(job: _Job, vocabulary: Vocabulary) -> list[str]:
    """Return what to tell of words that are to move and are not known; raises InputError."""
    if job.moving is None:
        return []
    known = set(vocabulary.words)
    unknown = [word for word in job.moving if word not in known]
    where = getattr(job.options, "moving", "")
    if len(unknown) == len(job.moving):
        found = f"{plural(len(unknown), 'word')}, none of them among {len(known):,}"
        raise InputError("holds no word of the counts", where=where, found=found,
                         do="check --moving")  # fmt: skip
    if not unknown:
        return []
    named = ", ".join(unknown[:_NAMED]) + (", …" if len(unknown) > _NAMED else "")
    are = several(len(unknown), "word of it is", "words of it are")
    return [f"{where}: {are} not among the counts and left out: {named}"]


def _summary(model: DynamicModel, statistics: dict[str, Any], clock: Clock) -> str:
    shape = f"{plural(len(model.rows), 'document')} × {plural(len(model.words), 'word')}"
    share, drop = statistics["captured"], statistics["last_drop"]
    last = "" if drop is None else f", last drop {drop:.1e}"
    return (
        f"{model.store.path}: {shape} in {model.dim} dimensions, degree "
        f"{model.degree}; {share:.4f} of the squares captured{last}; "
        f"{clock.seconds():.1f} s"
    )
