"""The stage that fits a model of documents with times, and writes words at chosen times from it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from wordgeom import cards, methods, runs, store
from wordgeom.building import readable, up_to_date
from wordgeom.checkpoints import StoredCheckpoint
from wordgeom.corpus.vocabulary import Vocabulary, read_words
from wordgeom.device import DeviceOptions, get_ops
from wordgeom.document_matrix import StoredDocuments
from wordgeom.dynamic.polynomials import Polynomials
from wordgeom.dynamic_model import DLSA, DynamicModel, write_model
from wordgeom.errors import InputError, OptionError, RankError
from wordgeom.kept import Kept, ResumeOptions, state_folder
from wordgeom.options import Options
from wordgeom.runs import Clock, Resources, RunOptions
from wordgeom.store import StoreWriter
from wordgeom.times import FORMATS, Times, parse_time, parse_times
from wordgeom.types import Result, Run
from wordgeom.vectors import Vectors, writable_words
from wordgeom.weighting.documents import DocumentOptions, WeightedDocuments
from wordgeom.wording import plural, several

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
    counts = StoredDocuments.open(documents)
    options: Options = module.Options.take(values)
    folder = Path(out)
    if folder.name in ("", ".."):  # names a folder without saying its name
        folder = Path(os.path.abspath(folder))
    job = _job(module, method, options, values, counts, run, folder, show)
    asked = _Asked.of(job, space)
    made = None if run.force else _made(job)
    if made is None:
        asked.refuse_others()
        made = _fit(job)
    made.lines, notes = asked.write(made.model)
    made.notes += notes
    return made


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
        inputs.append({"digest": cards.file_content(Path(path))["sha256"]})
    request = {"command": "train", "options": asked, "inputs": inputs}
    resume = ResumeOptions.take(values)
    return _Job(counts, out, module, options, weighting, device, resume, run, moving, request, show)


def _made(job: _Job) -> Modelled | None:
    """Return the model if it is there as asked for; raises OutputExistsError for another."""
    if not store.exists(job.out):
        return None
    made = readable(job.out, DLSA)
    cards.refuse_unlike(job.out, job.request, made.request, "matrix or file of words")
    summary = up_to_date(made, job.request).summary
    return Modelled(DynamicModel.open(job.out), summary)


def _fit(job: _Job) -> Modelled:
    """Fit the model and write it, whole or not at all."""
    clock, counts = Clock(), job.counts
    times = parse_times(counts.documents(), counts.names())
    notes = _moving_notes(job, counts.vocabulary)
    kept = Kept(state_folder(job.out), job.request, job.resume, force=job.run.force)
    with (
        kept.stoppable(),
        runs.resources(job.run, job.show) as using,
        StoreWriter(job.out, DLSA) as writer,
    ):
        result = _result(job, times, using, StoredCheckpoint(kept))
        told = {
            "trend": job.request["options"]["trend"], "weight": job.weighting.weight,
            "source": counts.store.digest,
        }  # fmt: skip
        polynomials = Polynomials.of(result.arrays["times"], job.request["options"]["degree"])
        attributes = write_model(writer, counts.vocabulary, result.arrays, polynomials, told)
        notes += result.notes
        card = runs.card(job.request, result.statistics, clock.seconds())
        parent = os.path.relpath(counts.path, job.out)
        writer.commit(attributes, card | {"parent": parent, "notes": notes})
    kept.remove()
    model = DynamicModel.open(job.out)
    return Modelled(model, _summary(model, result.statistics, clock), notes=notes)


def _result(job: _Job, times: Times, using: Resources, checkpoint: StoredCheckpoint) -> Result:
    weighted = WeightedDocuments(job.counts, job.weighting, using.pool)
    ops, rng = get_ops(job.device.device, using.pool), np.random.default_rng(using.seed)
    run = Run(ops, rng, using.memory, using.progress, checkpoint, using.folder, using.pool)
    inputs = {"documents": weighted, "times": times, "moving": job.moving}
    result: Result = job.module.fit(inputs, job.options, run)
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


@dataclass(frozen=True)
class _Asked:
    """Vectors that are to be written beside a model: name → time and file."""

    job: _Job
    times: dict[str, tuple[float, Path]]
    words: list[str]
    space: str | None

    @classmethod
    def of(cls, job: _Job, space: str | None) -> _Asked:
        """Look at the times and the names; raises OptionError, InputError."""
        times = {
            text: (value, job.out.with_name(f"{job.out.name}-{text}.bin"))
            for text, value in _times(getattr(job.options, "at", None))
        }
        words = job.counts.vocabulary.words
        for _, path in times.values():
            words = writable_words(path, words, space=space)
        return cls(job, times, words, space if words != job.counts.vocabulary.words else None)

    def refuse_others(self) -> None:
        """Raise OutputExistsError where vectors of another model are in the way, before a fit."""
        for _, path in self.times.values():
            if path.exists() and not self.job.run.force:
                raise runs.refuse_other(path, "vectors of another model")

    def write(self, model: DynamicModel) -> tuple[list[str], list[str]]:
        """Write what is not there yet; return a line for each, and what to tell."""
        lines, notes = [], []
        for text, (time, path) in self.times.items():
            with cards.only_writer(path):
                lines.append(self._write(model, text, time, path))
            first, last = model.times.min(), model.times.max()
            if not first <= time <= last:
                beyond = f"outside of the documents' {first:g} to {last:g}: a guess"
                notes.append(f"{path}: {text} lies {beyond}")
        return lines, notes

    def _write(self, model: DynamicModel, text: str, time: float, path: Path) -> str:
        clock, eig = Clock(), getattr(self.job.options, "eig", 1.0)
        options = {**self.job.request["options"], "at": text, "eig": eig, "space": self.space}
        digest = [{"digest": model.store.digest}]
        request = {"command": "train", "options": options, "inputs": digest}
        if cards.up_to_date(path, request, self.job.run.force, "model"):
            return f"{path}: up to date"
        vectors = Vectors(self.words, model.vectors_at(time, eig))
        cards.write(path, vectors, runs.card(request, {"time": time}, clock.seconds()))
        shape = " × ".join(f"{n:,}" for n in vectors.matrix.shape)
        return f"{path}: {shape}; {clock.seconds():.1f} s"


def _times(asked: str | None) -> Iterator[tuple[str, float]]:
    """Yield the times that a list names; raises OptionError."""
    for text in [] if asked is None else asked.split(","):
        time = parse_time(text)
        if time is None:
            raise OptionError("--at must be times", found=repr(text.strip()), do=FORMATS)
        yield text.strip(), time.value
