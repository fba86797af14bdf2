"""Files from files: vectors and matrices of ours as those of other programs, and back."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from wordgeom.core import requests
from wordgeom.core.errors import MissingInputError, OptionError
from wordgeom.core.formatting import plural
from wordgeom.core.options import check_known, flag, specs
from wordgeom.formats import detection
from wordgeom.formats.convert_vectors import Paths, rewrite
from wordgeom.formats.options import ConvertOptions
from wordgeom.formats.output_checks import check_same_request, refuse_existing, refuse_one_file
from wordgeom.formats.projector import refuse_foreign
from wordgeom.linalg.device import open_context
from wordgeom.methods.dlsa.model import DLSA
from wordgeom.runtime import provenance
from wordgeom.runtime.provenance import Clock
from wordgeom.runtime.run_options import RunOptions
from wordgeom.storage import store
from wordgeom.storage.store import Store
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors

_OF_VECTORS = ("limit", "only", "dim", "float16", "no_header")
_UNKNOWN = ("window", "window_weight", "context")  # of counts that another program made


@dataclass(frozen=True)
class Converted:
    """What was made: vectors or a store, or a file of a matrix; what to tell the user of it."""

    summary: str
    notes: Sequence[str] = ()
    vectors: Vectors | None = None
    store: Store | None = None


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    show: bool = False,
    **values: Any,
) -> Converted:
    """Write what `source` holds to `target`, in the format that its name tells.

    source_format, target_format: where names do not tell; values: options of ConvertOptions and
    RunOptions. Raises OutputExistsError without `force`, LockedError where another process writes
    `target`, and what reading and writing raise.
    """
    known = [field.name for cls in (ConvertOptions, RunOptions) for field, _ in specs(cls)]
    check_known(values, known, "convert")
    options, run = ConvertOptions.take(values), RunOptions.take(values)
    job = _Job(Path(source), Path(target), source_format, target_format, options, run, show)
    if not job.source.exists():
        raise MissingInputError("no such file or folder", where=source, do="check the path")
    if not job.target.absolute().parent.is_dir():
        do = "make it, or name another"
        raise MissingInputError("no such folder", where=job.target.parent, do=do)
    matrix = detection.is_matrix(job.source, job.target, source_format, target_format)
    if matrix and not job.source.is_dir():
        return _import(job)
    with run_card.writer_lock(job.target):
        return _export(job) if matrix else _convert_vectors(job)


@dataclass(frozen=True)
class _Job:
    source: Path
    target: Path
    source_format: str | None
    target_format: str | None
    options: ConvertOptions
    run: RunOptions
    show: bool

    def words(self, default: Path) -> Path:
        return default if self.options.words is None else Path(self.options.words)

    def refuse(self, names: Sequence[str], what: str) -> None:
        """Raise OptionError for the first of the options that was given."""
        for name in names:
            if getattr(self.options, name) not in (None, False):
                raise OptionError(f"{flag(name)} is not for {what}", where=self.source)


def _convert_vectors(job: _Job) -> Converted:
    job.refuse(("kind",), "vectors")
    form = detection.check_target(job.target, job.target_format, detection.VECTORS, "vectors")
    paths = Paths.of(job.source, job.source_format, job.target, form, job.options.words)
    if form in detection.ARRAYS:
        refuse_one_file(paths.target_words, {**_outputs(job), job.source: "the input"})
    for path in paths.written():
        refuse_existing(path, job.run.force)
    if form == detection.PROJECTOR:
        refuse_foreign(job.target)
    with open_context(job.run) as context:
        made, notes = rewrite(paths, job.options, context.memory, job.run.force)
    rows, columns = made.matrix.shape
    return Converted(f"{job.target}: {rows:,} × {columns:,}", notes, made)


def _export(job: _Job) -> Converted:
    from wordgeom.formats.export import documents_lines, fill_matrix, told, words_lines, words_path
    from wordgeom.stages.train import open_whole

    _refuse_model(job.source)
    job.refuse((*_OF_VECTORS, "kind"), "a matrix")
    form = detection.check_target(job.target, job.target_format, detection.MATRICES, "matrices")
    words = job.words(words_path(job.target, form))
    refuse_one_file(words, _outputs(job))
    refuse_existing(job.target, job.run.force)
    matrix, clock = open_whole(job.source), Clock()
    documents = documents_lines(matrix, job.target, form)
    lines = words_lines(matrix, form, words, job.options.space)
    check_same_request(words, lines, job.run.force)
    if documents is not None:
        refuse_one_file(words, {documents[0]: "the documents"})
        check_same_request(*documents, job.run.force)

    def card() -> dict[str, Any]:
        inputs = [{"digest": matrix.store.digest}]
        made = provenance.card(_request(job, form, inputs), {}, clock.seconds())
        made |= {"matrix": told(matrix), "words": run_card.content(b"".join(lines))}
        return made | {"source": matrix.store.card.get("request")}

    with open_context(job.run, show=job.show) as context:
        parts: dict[Path, Callable[[BinaryIO], None]] = {
            job.target: lambda handle: fill_matrix(
                handle, matrix, job.target, form, words, context
            ),
            words: lambda handle: handle.writelines(lines),
        }
        if documents is not None:
            parts[documents[0]] = lambda handle: handle.writelines(documents[1])
        run_card.write_together(job.target, parts, card)
    if documents is None:
        shape = f"{plural(len(matrix.vocabulary), 'word')}, {plural(matrix.stored, 'pair')}"
        beside = f"words in {words}"
    else:
        rows, columns = matrix.shape
        shape = f"{plural(rows, 'document')} × {plural(columns, 'word')}"
        beside = f"words in {words}, documents in {documents[0]}"
    return Converted(f"{job.target}: {shape}, {beside}; {clock.seconds():.1f} s")


def _refuse_model(path: Path) -> None:
    """Refuse a model, which has vectors at each time."""
    if store.exists(path) and Store.open(path).kind == DLSA:
        do = f"write its vectors: wordgeom train DTM --method dlsa -o {path} --at TIME"
        raise OptionError("is a model of dynamic LSA", where=path, do=do)


def _import(job: _Job) -> Converted:
    from wordgeom.formats.export import found_words
    from wordgeom.formats.import_matrix import Known, import_matrix
    from wordgeom.formats.readers import open_entries
    from wordgeom.formats.word_files import read_words
    from wordgeom.matrices.cooccurrence import COOC
    from wordgeom.stages.counting import readable, up_to_date

    job.refuse((*_OF_VECTORS, "space"), "a matrix that is read")
    form = job.source_format or detection.told(job.source) or ""
    if job.target_format or detection.told(job.target):
        do = "name a folder, and convert that to the other format"
        raise OptionError("a matrix is read into a folder", where=job.target, do=do)
    path, clock = job.words(found_words(job.source, form)), Clock()
    if not path.exists():
        raise MissingInputError("no such file of words", where=path, do="name it: --words FILE")
    words, (known, unfit) = read_words(path), Known.beside(job.source, path)
    kind = job.options.kind or (known.kind if known else COOC)
    known = known if known and known.kind == kind else None
    inputs = [_input(job.source), _input(path)]
    request = _request(job, form, inputs, kind)
    if not job.run.force and store.exists(job.target):
        made = readable(job.target, kind)
        if made.request != request:
            raise requests.different_content(job.target, "made from something else")
        return Converted(up_to_date(made, request).summary, store=made)
    with open_context(job.run, show=job.show) as context:
        file = open_entries(job.source, form, len(words.words), context.memory)
        made, notes = import_matrix(file, words, job.target, kind, known, request, context)
    return Converted(_imported(made, clock), [*unfit, *notes], store=made)


def _imported(made: Store, clock: Clock) -> str:
    at = made.attributes
    shape = f"{plural(at['shape'][0], 'word')}, {plural(at['stored'], 'pair')}"
    units = f" in units of 1/{at['denominator']}" if at.get("denominator", 1) > 1 else ""
    return f"{made.path}: {shape}{units}; {clock.seconds():.1f} s"


def _outputs(job: _Job) -> dict[Path, str]:
    return {job.target: "the output", run_card.card_path(job.target): "the output's run card"}


def _request(
    job: _Job, form: str, inputs: list[dict[str, Any]], kind: str | None = None
) -> dict[str, Any]:
    options: dict[str, Any] = {"format": form, "space": job.options.space}
    if kind is not None:
        options = {"format": form, "kind": kind, **dict.fromkeys(_UNKNOWN)}
    return {"command": "convert", "options": options, "inputs": inputs}


def _input(path: Path) -> dict[str, Any]:
    content = run_card.file_content(path)
    return {"name": str(path.absolute()), "bytes": content["bytes"], "digest": content["sha256"]}
