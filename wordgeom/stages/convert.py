"""The stages that convert vectors and matrices to and from other programs' formats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

from wordgeom.core.errors import MissingInputError, OptionError
from wordgeom.core.formatting import plural
from wordgeom.core.options import flag
from wordgeom.core.requests import request_of
from wordgeom.formats import detection
from wordgeom.formats.conversion_paths import Paths
from wordgeom.formats.convert_vectors import conversion_request, rewrite
from wordgeom.formats.converted_ngrams import ngrams_path
from wordgeom.formats.export import (
    documents_content,
    export_facts,
    find_words_path,
    words_content,
    words_path,
    write_matrix,
)
from wordgeom.formats.options import ConvertOptions
from wordgeom.formats.output_checks import check_overwrite, check_shared_file, check_words_file
from wordgeom.formats.projector import check_projector_directory
from wordgeom.formats.vector_files import files_of, hashed_bytes, shape_of
from wordgeom.formats.word_files import companion_path
from wordgeom.matrices.cooccurrence import COOC
from wordgeom.matrices.document_term import Stored
from wordgeom.matrices.opening import open_any
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.stages.artefacts import artefact_at
from wordgeom.stages.stage import Job, Outcome, Stage
from wordgeom.stages.store_stage import StoreStage, own_store
from wordgeom.storage.disk_space import Demand, Space
from wordgeom.storage.files import folder_bytes
from wordgeom.storage.store import Store
from wordgeom.subwords.stored import KIND
from wordgeom.vectors import run_card
from wordgeom.vectors.run_card import card_path

_OF_VECTORS = ("limit", "only", "dim", "drop_zero", "drop_nan", "float16", "no_header")
_GROWTH = 3  # times as large is a file in a format with larger numbers
_UNKNOWN = ("window", "window_weight", "context")  # of counts that another program made


@dataclass(frozen=True)
class Conversion(Stage):
    """A conversion of `source` to `out`; formats: where the names do not tell them."""

    source: Path
    out: Path
    source_format: str | None
    target_format: str | None
    options: ConvertOptions
    run: RunOptions
    resume: ResumeOptions = field(default_factory=ResumeOptions)

    @property
    def state(self) -> None:
        """None: a conversion is not resumed."""
        return

    def check_ours(self, *, force: bool) -> None:
        """Raise nothing: what a conversion may replace depends on the form of its input."""

    @property
    def outputs(self) -> dict[Path, str]:
        """The files that no other output may replace."""
        return {self.out: "the output", card_path(self.out): "the output's run card"}

    @property
    def main(self) -> Path:
        """The file that has the run card."""
        return self.out

    @property
    def ngrams(self) -> Path | None:
        """The subword model that is written beside the output."""
        return None

    def check(self) -> None:
        """Raise MissingInputError where the source does not exist."""
        if not self.source.exists():
            raise MissingInputError(
                "no such file or directory", where=self.source, do="check the path"
            )

    def up_to_date(self) -> Outcome | None:
        """Return the target if its run card has the request. Raises OutputExistsError if not."""
        if self.run.force or not (self.main.is_file() or self.ngrams):
            return None
        try:
            request = self.request
        except OSError:  # which `work` reports
            return None
        lost = self.ngrams is not None and not own_store(self.ngrams, KIND, request, force=False)
        if lost or not self.main.is_file():
            return None
        run_card.up_to_date(self.main, request, False, "file", self.beside)
        return Outcome(f"{self.out}: up to date", self.out)

    @property
    def demand(self) -> Demand:
        """About the size of the source, and more in formats with larger numbers."""
        size = folder_bytes(self.source) if self.source.is_dir() else self.source.stat().st_size
        form = self.target_format or detection.format_of(self.out)
        return Demand(Space(0, size * (_GROWTH if form in detection.LARGER else 1)))

    def words_file(self, default: Path) -> Path:
        """Return the file of words: `--words`, or the default."""
        return default if self.options.words is None else Path(self.options.words)

    def check_options(self, names: Sequence[str], what: str) -> None:
        """Raise OptionError for the first of the options that was given."""
        for name in names:
            if getattr(self.options, name) not in (None, False):
                raise OptionError(f"{flag(name)} does not apply to {what}", where=self.source)


def conversion(
    source: Path,
    target: Path,
    source_format: str | None,
    target_format: str | None,
    options: ConvertOptions,
    run: RunOptions,
) -> Conversion:
    """Return the conversion that source and target call for.

    Raises MissingInputError where the directory of the target is missing.
    """
    if not target.absolute().parent.is_dir():
        do = "create it, or name another"
        raise MissingInputError("no such directory", where=target.parent, do=do)
    kind: type[Conversion] = VectorsConversion
    if detection.is_matrix(source, target, source_format, target_format):
        kind = MatrixExport if source.is_dir() else MatrixImport
    elif not source.exists():  # which an earlier table of a configuration file may make
        allowed = tuple(dict.fromkeys((*detection.VECTORS, *detection.MATRICES)))
        detection.check_target(target, target_format, allowed, "vectors and matrices")
    return kind(source, target, source_format, target_format, options, run)


@dataclass(frozen=True)
class VectorsConversion(Conversion):
    """Vectors → vectors in another format, fewer words or fewer columns."""

    @cached_property
    def paths(self) -> Paths:
        """The files, and their formats. Raises OptionError."""
        self.check_options(("kind",), "vectors")
        form = detection.check_target(self.out, self.target_format, detection.VECTORS, "vectors")
        return Paths.of(self.source, self.source_format, self.out, form, self.options.words)

    @property
    def demand(self) -> Demand:
        """As of other conversions; a model of fastText has all buckets, and two rows for a word."""
        if self.paths.form != detection.FASTTEXT:
            return super().demand
        (words, columns), buckets = shape_of(self.source), hashed_bytes(self.source)
        return Demand(Space(buckets, buckets + 2 * 4 * words * columns))

    @property
    def request(self) -> dict[str, Any]:
        """The options, and the digests of the files read."""
        return conversion_request(self.paths, self.options)

    @property
    def output_paths(self) -> Sequence[Path]:
        """The output with its run card, and the files beside it.

        Arrays of one stem share their words, which `check_shared_file` keeps from other content.
        """
        shared = companion_path(self.source) if self.paths.array else None
        models = () if self.ngrams is None else (self.ngrams,)
        written = (*super().output_paths, *self.paths.written(), *models)
        return [path for path in written if path != shared or path == self.out]

    @property
    def input_paths(self) -> list[Path]:
        """The source with its words, and the list of words to select."""
        only = [] if self.options.only is None else [Path(self.options.only)]
        return [*files_of(self.source, self.paths.words, self.source_format), *only]

    @property
    def ngrams(self) -> Path | None:
        """The subword model that is written beside the output."""
        return ngrams_path(self.paths, self.options)

    @property
    def main(self) -> Path:
        """The vectors of a projector directory, else the output."""
        return self.paths.written()[0]

    @property
    def beside(self) -> Sequence[Path]:
        """The words of a NumPy array or of a projector directory."""
        if self.paths.form in detection.ARRAYS:
            return (self.paths.target_words,)
        return self.paths.written()[1:]

    def work(self, job: Job) -> Outcome:
        """Check the outputs, and write them. Raises OutputExistsError, OptionError."""
        paths, form = self.paths, self.paths.form
        if form in detection.ARRAYS:
            check_words_file(paths.target_words, {**self.outputs})
        for path in paths.written():
            check_overwrite(path, self.run.force)
        if form == detection.PROJECTOR:
            check_projector_directory(self.out)
        made, notes = rewrite(paths, self.options, job.context.memory, self.run.force)
        rows, columns = made.matrix.shape
        return Outcome(f"{self.out}: {rows:,} × {columns:,}", self.out, list(notes), value=made)


@dataclass(frozen=True)
class MatrixExport(Conversion):
    """A stored matrix → another program's file, with its words and documents beside it."""

    @cached_property
    def matrix(self) -> Stored:
        """The matrix. Raises OptionError for a model, and what `open_any` raises."""
        artefact_at(self.source).check_convertible()
        return open_any(self.source)

    @cached_property
    def form(self) -> str:
        """The format of the target."""
        self.check_options((*_OF_VECTORS, "kind"), "a matrix")
        return detection.check_target(self.out, self.target_format, detection.MATRICES, "matrices")

    @property
    def input_paths(self) -> tuple[Path, ...]:
        """The matrix."""
        return (self.source,)

    @property
    def words(self) -> Path:
        """The file of words to write."""
        return self.words_file(words_path(self.out, self.form))

    @property
    def beside(self) -> Sequence[Path]:
        """The files of words and documents."""
        documents = documents_content(self.matrix, self.out, self.form)
        return (self.words,) if documents is None else (self.words, documents[0])

    @property
    def request(self) -> dict[str, Any]:
        """The format, and the digest of the matrix."""
        options = {"format": self.form, "space": self.options.space}
        return request_of("convert", options, [self.matrix.store.digest])

    def work(self, job: Job) -> Outcome:
        """Check the outputs, and write them together."""
        artefact_at(self.source).check_convertible()
        form, words = self.form, self.words
        check_words_file(words, self.outputs)
        check_overwrite(self.out, self.run.force)
        matrix = self.matrix
        documents = documents_content(matrix, self.out, form)
        listed = words_content(matrix, form, words, self.options.space)
        check_shared_file(words, listed, self.run.force, self.out)
        if documents is not None:
            check_words_file(words, {documents[0]: "the documents"})
            check_shared_file(*documents, self.run.force, self.out)
        parts: dict[Path, Callable[[BinaryIO], object]] = {
            self.out: lambda out: write_matrix(out, matrix, self.out, form, words, job.context),
            words: lambda out: out.write(listed),
        }
        if documents is not None:
            parts[documents[0]] = lambda out: out.write(documents[1])
        run_card.write_together(self.out, parts, lambda: self._card(job, listed))
        beside = f"words in {words}"
        beside += "" if documents is None else f", documents in {documents[0]}"
        summary = f"{self.out}: {self._shape()}, {beside}; {job.seconds()}"
        return Outcome(summary, self.out)

    def _card(self, job: Job, listed: bytes) -> dict[str, Any]:
        card = job.card(self.request)
        card |= {"matrix": export_facts(self.matrix), "words": run_card.content(listed)}
        return card | {"source": self.matrix.store.card.get("request")}

    def _shape(self) -> str:
        rows, columns = self.matrix.shape
        if self.matrix.store.kind == "dtm":
            return f"{plural(rows, 'document')} × {plural(columns, 'word')}"
        return f"{plural(columns, 'word')}, {plural(self.matrix.stored, 'pair')}"


@dataclass(frozen=True)
class MatrixImport(StoreStage, Conversion):
    """Another program's file of matrix entries → a store."""

    @cached_property
    def form(self) -> str:
        """The format of the source. Raises OptionError."""
        self.check_options((*_OF_VECTORS, "space"), "a matrix that is imported")
        if self.target_format or detection.format_of(self.out):
            do = "name a directory, and convert that to the other format"
            raise OptionError("a matrix is imported into a directory", where=self.out, do=do)
        return self.source_format or detection.format_of(self.source) or ""

    @property
    def input_paths(self) -> tuple[Path, ...]:
        """The file and its words."""
        return (self.source, self.words)

    @cached_property
    def words(self) -> Path:
        """The file of words. Raises MissingInputError."""
        path = self.words_file(find_words_path(self.source, self.form))
        if not path.exists():
            do = "name it: --words FILE"
            raise MissingInputError("no such words file", where=path, do=do)
        return path

    @cached_property
    def _known(self) -> Any:
        """What a run card beside the source records of the matrix, and a note on it."""
        from wordgeom.formats.import_matrix import ExportRecord

        return ExportRecord.read(self.source, self.words)

    @property
    def kind(self) -> str:
        """The kind of the store: `--kind`, or as recorded."""
        known, _ = self._known
        return self.options.kind or (known.kind if known else COOC)

    @cached_property
    def request(self) -> dict[str, Any]:
        """The format and the kind, and the digests of the files."""
        options = {"format": self.form, "kind": self.kind, **dict.fromkeys(_UNKNOWN)}
        inputs = [_input(self.source), _input(self.words)]
        return {"command": "convert", "options": options, "inputs": inputs}

    def difference(self, made: Store) -> str | None:
        """Return how a store that exists differs from the one to make."""
        return None if made.request == self.request else "was made from other files"

    def work(self, job: Job) -> Outcome:
        """Read the words and the entries, and write the store."""
        from wordgeom.formats.import_matrix import import_matrix, open_entries
        from wordgeom.formats.word_files import read_words

        context, words = job.context, read_words(self.words)
        known, unfit = self._known
        known = known if known and known.kind == self.kind else None
        file = open_entries(self.source, self.form, len(words.words), context.memory)
        made, notes = import_matrix(file, words, self.out, self.kind, known, self.request, context)
        return Outcome(f"{_shape(made)}; {job.seconds()}", self.out, [*unfit, *notes],
                       value=made)  # fmt: skip


def _shape(made: Store) -> str:
    at = made.attributes
    shape = f"{plural(at['shape'][0], 'word')}, {plural(at['stored'], 'pair')}"
    units = f" in units of 1/{at['denominator']}" if at.get("denominator", 1) > 1 else ""
    return f"{made.path}: {shape}{units}"


def _input(path: Path) -> dict[str, Any]:
    content = run_card.file_content(path)
    return {"name": str(path.absolute()), "bytes": content["bytes"], "digest": content["sha256"]}
