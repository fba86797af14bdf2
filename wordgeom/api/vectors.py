"""Vectors in Python: train, extend, impute, convert and score.

    model = wg.train(counts, "gbu", dim=100)
    model.most_similar("king")

Every option of the command line is a keyword here, spelt with underscores.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom import methods
from wordgeom.api.counts import MatrixHandle, PathLike, file_path, matrix_path
from wordgeom.api.frames import as_file, is_frame, is_map, map_as_file
from wordgeom.api.keywords import taken, takes, takes_any_of
from wordgeom.api.messages import declare, public, reworded, run
from wordgeom.core.errors import OptionError, WordgeomError
from wordgeom.core.options import Options, check_known, plain, specs
from wordgeom.core.types import Float32
from wordgeom.evaluation.options import EvalOptions
from wordgeom.formats.options import ConvertOptions
from wordgeom.imputation.domain import DomainOptions
from wordgeom.imputation.options import ImputeOptions
from wordgeom.linalg.options import DeviceOptions
from wordgeom.methods import load as load_method
from wordgeom.methods.contract import MODEL, Status
from wordgeom.methods.gbu.extension import ExtendOptions
from wordgeom.methods.inputs import reading_options, settings_of
from wordgeom.runtime.run_options import ResumeOptions, RunOptions, UseOptions
from wordgeom.texts.corpus_record import CorpusRecord, corpus_record
from wordgeom.vectors.keyed import (
    Vectors,
    from_keyed_vectors,
    read_vectors,
    to_keyed_vectors,
    write_vectors,
)
from wordgeom.vectors.nearest import row_of, similar

if TYPE_CHECKING:
    from gensim.models import KeyedVectors
    from pandas import DataFrame

    from wordgeom.evaluation.report import Report
    from wordgeom.imputation.trust import Trust
    from wordgeom.stages.stage import Outcome

_EVERY = (DeviceOptions, ResumeOptions, RunOptions)  # of every method


class Model:
    """Trained vectors: words, vectors (V × K) float32, notes, statistics and status.

    status: "converged", or why not (methods.contract.Status); corpus: what is recorded of the text
    behind the vectors, for TextVectorizer.
    """

    def __init__(
        self,
        vectors: Vectors,
        notes: Sequence[str],
        statistics: dict[str, Any],
        documents: Float32 | None = None,
        status: str = Status.CONVERGED.value,
        corpus: CorpusRecord | None = None,
    ) -> None:
        self._vectors, self._documents = vectors, documents
        self.corpus = corpus or CorpusRecord()
        self.notes = list(notes)
        self.statistics, self.status = statistics, status

    def __repr__(self) -> str:
        words, dimension = self.vectors.shape
        status = "" if self.status == Status.CONVERGED.value else f", {self.status}"
        return f"<{type(self).__name__} of {words:,} × {dimension:,}{status}>"

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._vectors.row(word) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    @public
    def __getitem__(self, word: str) -> Float32:
        """Return the vector (K) of a word. Raises InputError for an unknown one."""
        return np.asarray(self.vectors[row_of(self._vectors, word)])

    @public
    def most_similar(
        self, positive: str | Sequence[str], negative: str | Sequence[str] = (), topn: int = 10
    ) -> list[tuple[str, float]]:
        """Return the words nearest to a word, or to a sum of words less others, with cosines.

        Raises InputError for an unknown word, OptionError.
        """
        if topn < 1:
            raise OptionError("topn must be at least 1", found=topn)
        return similar(self._vectors, positive, negative, topn)

    @property
    def read(self) -> Vectors:
        """Words and vectors together."""
        return self._vectors

    @property
    def words(self) -> list[str]:
        """The V words."""
        return self._vectors.words

    @property
    def vectors(self) -> Float32:
        """(V × K) float32."""
        return self._vectors.matrix

    @property
    def documents(self) -> Float32 | None:
        """Document vectors (n × K) float32, a row for each counted document.

        None where the method makes none, and where the output was up to date without them.
        """
        return self._documents

    def to_frame(self) -> DataFrame:
        """Return the vectors as a DataFrame of pandas: a row per word."""
        return self._vectors.to_frame()

    def keyed_vectors(self) -> KeyedVectors:
        """Return the vectors as gensim's KeyedVectors."""
        return to_keyed_vectors(self._vectors)

    @public
    def save(self, path: PathLike, *, space: str | None = None) -> None:
        """Write a word2vec file: .bin, .txt or .vec."""
        write_vectors(file_path(path), self.words, self.vectors, space=space)


class ImputedModel(Model):
    """Vectors of entities; table: the trust table, which iterates over rows.

    validation: its lines as printed by the command line, empty where it was not requested.
    """

    def __init__(
        self,
        vectors: Vectors,
        notes: Sequence[str],
        statistics: dict[str, Any],
        table: Trust,
        validation: Sequence[str] = (),
    ) -> None:
        super().__init__(vectors, notes, statistics)
        self.table, self.validation = table, list(validation)

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}; {self.table!r}>"


def _method_classes(method: str) -> tuple[type[Options], ...]:
    """Return the option classes of `train(matrix, method)`."""
    own = load_method(method)
    return (own.Options, *reading_options(own), *_EVERY)


def method_options(
    made: str | None = None,
) -> tuple[dict[str, tuple[type[Options], ...]], dict[str, dict[str, Any]]]:
    """Return the option classes and the preferred values of each method that can be loaded.

    made: leave out methods that make anything else, such as MODEL.
    """
    classes, values = {}, {}
    for name in methods.names():
        with contextlib.suppress(Exception):  # a user's own; `train` with its name raises
            module = load_method(name)
            if made not in (None, *module.MAKES):
                continue
            classes[name] = _method_classes(name)
            values[name] = methods.preferred(module, module.Options())
            declare(settings_of(module))
    return classes, values


@takes_any_of(*method_options())
def train(
    matrix: PathLike | MatrixHandle,
    method: str,
    *,
    out: PathLike | None = None,
    documents: PathLike | None = None,
    space: str | None = None,
    **options: Any,
) -> Any:
    """Train on the first input of a method; options are those of `wordgeom train --method METHOD`.

    out: also write the vectors there, with a run card; a method that makes a model needs it.
    documents: also write the documents' vectors there. Returns a Model, or the model that the
    method makes. Raises WordgeomError.
    """
    made = run(_training(matrix, method, out, documents, space, options))
    if load_method(method).MAKES == (MODEL,):
        return made.value
    if made.value is None and made.path is not None:  # up to date
        beside = None if documents is None else read_vectors(Path(documents)).matrix
        return _read_back(made.path, beside, _behind(matrix))
    vectors, beside = made.value.vectors, made.value.documents
    status = made.status.value
    return Model(vectors, made.notes, made.statistics, beside, status, _behind(matrix))


@takes(ExtendOptions, ResumeOptions, RunOptions)
def extend(
    vectors: PathLike | Model | KeyedVectors,
    counts: PathLike | MatrixHandle,
    *,
    out: PathLike | None = None,
    space: str | None = None,
    **options: Any,
) -> Model:
    """Infer vectors for the words of counts that `vectors` lack; options of `wordgeom extend`.

    vectors: a file, whose run card records how pairs were weighted, a model, or gensim's. out: also
    write the vectors there, with a run card. Raises WordgeomError.
    """
    from wordgeom.stages.extend import Extend

    _, resume, using = taken("extend", options)
    target = None if out is None else Path(out)
    path, values = matrix_path(counts), plain(options)
    stage = Extend(_source(vectors), path, values, using, target, resume, space)
    made = run(stage)
    if made.value is None and made.path is not None:  # up to date
        return _read_back(made.path)
    return Model(made.value, made.notes, made.statistics, status=made.status.value)


@takes(DomainOptions, ImputeOptions, ResumeOptions, RunOptions)
def impute(
    domain: PathLike | DataFrame,
    vectors: PathLike | Model | KeyedVectors = "vectors.bin",
    *,
    out: PathLike | None = None,
    table: PathLike | None = None,
    **options: Any,
) -> ImputedModel:
    """Give every entity of a table a vector; options are those of `wordgeom impute`.

    domain: a file, or a DataFrame whose index has the names and whose columns are numbers.
    name_map: a file, or a dictionary or Series from entities to words.
    vectors: a file, a model, or gensim's. out: also write the vectors there, with a trust table and
    a run card. Raises WordgeomError.
    """
    from wordgeom.stages.impute import Impute

    if is_frame(domain):
        with as_file(domain) as path:
            return impute(path, vectors, out=out, table=table, **options)
    if is_map(options.get("name_map")):
        with map_as_file(options["name_map"]) as path:
            return impute(domain, vectors, out=out, table=table, **{**options, "name_map": path})
    if not isinstance(domain, (str, os.PathLike)):
        do = "write it first, with numpy.save, or make a DataFrame with names as its index"
        if hasattr(domain, "to_frame"):
            do = "pass a DataFrame: to_frame()"
        raise OptionError("domain must name a file", found=type(domain).__name__, do=do)
    of_domain, how, resume, using = taken("impute", options)
    target = None if out is None else Path(out)
    beside = None if table is None else Path(table)
    source = _source(vectors)
    stage = Impute(Path(domain), source, of_domain, how, using, target, beside, resume)
    made = run(stage)
    if made.value is not None:
        return ImputedModel(
            made.value.vectors, made.notes, made.statistics, made.value.trust, made.lines
        )
    assert target is not None  # up to date
    return _imputed_before(target, beside, made)


@takes(ConvertOptions, RunOptions)
def convert(
    source: PathLike | MatrixHandle,
    target: PathLike,
    *,
    source_format: str | None = None,
    target_format: str | None = None,
    **options: Any,
) -> Outcome:
    """Convert vectors or a matrix; options are those of `wordgeom convert`.

    source: a file, a directory, or a matrix; `Model.save` writes the vectors of a model.
    source_format, target_format: `--from` and `--to`. Raises WordgeomError.
    """
    from wordgeom.stages.convert import conversion

    how, using = taken("convert", plain(options))
    formats = source_format, target_format
    if isinstance(source, MatrixHandle):
        source = source.path
    path = file_path(source, "write a model with its save method")
    return run(conversion(path, file_path(target), *formats, how, using))


@takes(EvalOptions, ResumeOptions, UseOptions)
def score(
    vectors: PathLike | Model | KeyedVectors,
    sets: Sequence[PathLike] = (),
    *,
    categories: Sequence[PathLike] = (),
    classify: Sequence[PathLike] = (),
    regress: Sequence[PathLike] = (),
    **options: Any,
) -> Report:
    """Evaluate vectors on test sets, by default gensim's; options are those of `wordgeom eval`.

    vectors: a file, a model, or gensim's. The report's `scores` are a list; `to_dict()` is what
    --json prints. Raises WordgeomError.
    """
    from wordgeom.evaluation.sets import read_tasks
    from wordgeom.stages.evaluate import Evaluate

    how, resume, using = taken("score", options)
    given = [_paths(names) for names in (sets, categories, classify, regress)]
    tasks = read_tasks(given[0], given[1], given[2], given[3], how)
    files = tuple(file for names in given for file in names)
    source = _source(vectors)
    held = isinstance(source, Vectors)
    named = repr(vectors) if held else os.fspath(source)  # type: ignore[arg-type]
    read = source if isinstance(source, Vectors) else os.fspath(source)
    stage = Evaluate(read, named, tasks, how, using, files=files, resume=resume)
    report: Report = run(stage).value
    return report


@public
def load_vectors(path: PathLike, *, limit: int | None = None) -> KeyedVectors:
    """Read vectors in any format that `convert` writes, as gensim's KeyedVectors."""
    from wordgeom.formats.vector_files import read_any_vectors

    path = file_path(path, "a model has keyed_vectors()")
    return to_keyed_vectors(read_any_vectors(path, limit=limit))


def _training(
    matrix: PathLike | MatrixHandle,
    method: str,
    out: PathLike | None,
    documents: PathLike | None,
    space: str | None,
    options: dict[str, Any],
) -> Any:
    """Return the stage of these keywords; raises OptionError for one that is not known."""
    from wordgeom.stages.train import Train

    first, *others = settings_of(load_method(method))
    known = [field.name for cls in _method_classes(method) for field, _ in specs(cls)]
    check_known(options, [*known, *others], "wordgeom.train")
    values = {**plain(options), first: os.fspath(matrix_path(matrix))}
    if documents is not None:
        values["documents"] = os.fspath(documents)
    if space is not None:
        values["space"] = space
    target = None if out is None else Path(out)
    using, resume = RunOptions.take(values), ResumeOptions.take(values)
    return Train(method, values, target, using, resume)


def corpus_of(counts: PathLike | MatrixHandle) -> CorpusRecord:
    """Return what is recorded of the text that was counted. Raises WordgeomError."""
    record = corpus_record(None, matrix_path(counts))
    return replace(record, where=repr(counts)) if isinstance(counts, MatrixHandle) else record


def _behind(matrix: PathLike | MatrixHandle) -> CorpusRecord | None:
    """Return what is recorded of the text behind the input of a method, None if that is none."""
    try:
        return corpus_of(matrix)
    except WordgeomError:
        return None


def _read_back(
    path: Path, documents: Float32 | None = None, corpus: CorpusRecord | None = None
) -> Model:
    """Return vectors that were up to date, with what their run card records."""
    from wordgeom.vectors.run_card import read_card

    card = read_card(path) or {}
    notes, statistics = reworded(card.get("notes", [])), card.get("statistics", {})
    status = card.get("status", Status.CONVERGED.value)
    return Model(read_vectors(path), notes, statistics, documents, status, corpus)


def _imputed_before(out: Path, table: Path | None, made: Outcome) -> ImputedModel:
    from wordgeom.imputation.output import table_path
    from wordgeom.imputation.trust_table import read_trust

    held, trust = _read_back(out), read_trust(table or table_path(out))
    return ImputedModel(held.read, held.notes, held.statistics, trust, made.lines)


def _paths(names: Sequence[PathLike]) -> list[str]:
    """Return file names as text; a single one is taken for a list of one."""
    if hasattr(names, "columns"):
        what, do = "sets are names of files", 'write the table first: df.to_csv("pairs.csv")'
        raise OptionError(what, found=type(names).__name__, do=do)
    listed = [names] if isinstance(names, (str, os.PathLike)) else names
    return [os.fspath(file_path(name)) for name in listed]


def _source(vectors: PathLike | Model | KeyedVectors) -> PathLike | Vectors:
    """Return the name of a file unchanged, vectors in memory as Vectors."""
    if isinstance(vectors, (str, os.PathLike)):
        return vectors
    if isinstance(vectors, Model):
        return vectors.read
    if hasattr(vectors, "index_to_key"):  # gensim need not be imported for this
        return from_keyed_vectors(vectors)
    what = "vectors must be a file name, a Model or gensim's KeyedVectors"
    raise OptionError(what, found=type(vectors).__name__)
