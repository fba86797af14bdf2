"""The public functions: `import wordgeom as wg`.

    counts = wg.count("corpus.txt", window=10, window_weight="flat")
    model = wg.train(counts, "gbu", dim=100)
    model.keyed_vectors().most_similar("king")

Every option of the command line is a keyword here, spelt with underscores. Without `out` a
matrix lies in a temporary folder that goes when its handle does. A stage is imported where it is
used: `import wordgeom` must not wait for Numba.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordgeom.checkpoint.state import ResumeOptions
from wordgeom.core.errors import OptionError
from wordgeom.core.keywords import options_of, plain
from wordgeom.core.types import Float32, Int64
from wordgeom.corpus.options import CorpusOptions
from wordgeom.counts.windows import WindowOptions
from wordgeom.evaluation.options import EvalOptions
from wordgeom.imputation.domain import DomainOptions
from wordgeom.imputation.options import ImputeOptions
from wordgeom.linalg.options import DeviceOptions
from wordgeom.matrices.cooccurrence import COOC, DTM
from wordgeom.matrices.document_term import Document, StoredDocuments, open_stored
from wordgeom.methods import load as load_method
from wordgeom.runtime.run_options import RunOptions, UseOptions
from wordgeom.storage.files import Closing
from wordgeom.vectors.keyed import (
    Vectors,
    from_keyed_vectors,
    read_vectors,
    to_keyed_vectors,
    write_vectors,
)
from wordgeom.weighting.options import PmiOptions

if TYPE_CHECKING:
    import scipy.sparse
    from gensim.models import KeyedVectors

    from wordgeom.evaluation.report import Report
    from wordgeom.imputation.trust import Trust
    from wordgeom.stages.convert import Converted

PathLike = str | os.PathLike[str]


class MatrixHandle(Closing):
    """A matrix in a folder; a temporary folder is removed with the handle, or by close().

    path; summary, notes: what the command line would have said of the making.
    """

    def __init__(
        self,
        path: PathLike,
        summary: str = "",
        notes: Sequence[str] = (),
        temporary: Path | None = None,
    ) -> None:
        self.path = Path(path)
        self.summary, self.notes = summary, list(notes)
        self._matrix = open_stored(path)
        self._finalize = weakref.finalize(self, _remove, temporary)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self.words):,} words in {self.path}>"

    def close(self) -> None:
        """Remove the matrix if it is a temporary one."""
        self._finalize()

    @property
    def words(self) -> list[str]:
        """The V words, in order of the rows."""
        return self._matrix.vocabulary.words

    @property
    def frequencies(self) -> Int64:
        """(V) int64, how often each word occurs in the corpus."""
        return self._matrix.vocabulary.counts

    @property
    def digest(self) -> str:
        """SHA-256 of the content."""
        return self._matrix.store.digest

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the whole matrix: (V × V), both triangles, counts as floats."""
        return self._matrix.to_scipy()


class Counts(MatrixHandle):
    """Co-occurrence counts."""


class Weighted(MatrixHandle):
    """A PMI matrix."""


class DocumentCounts(MatrixHandle):
    """Counts of words by document: to_scipy() is (n × V), a row for each of documents()."""

    def documents(self) -> list[Document]:
        """Return the n documents: file (from 1), line, id, time."""
        return StoredDocuments.open(self.path).documents()


class Model:
    """Vectors that a method made: words, vectors (V × K) float32, notes, statistics."""

    def __init__(
        self,
        vectors: Vectors,
        notes: Sequence[str],
        statistics: dict[str, Any],
        documents: Float32 | None = None,
    ) -> None:
        self._vectors, self._documents = vectors, documents
        self.notes = list(notes)
        self.statistics = statistics

    def __repr__(self) -> str:
        return "<Model of {:,} × {:,}>".format(*self.vectors.shape)

    @property
    def read(self) -> Vectors:
        """The words and vectors, as a file of them is read."""
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
        """Vectors of documents (n × K) float32, a row for each document counted.

        None where the method makes none, and where an output was up to date that holds words alone.
        """
        return self._documents

    def keyed_vectors(self) -> KeyedVectors:
        """Return gensim's KeyedVectors of them."""
        return to_keyed_vectors(self._vectors)

    def save(self, path: PathLike, *, space: str | None = None) -> None:
        """Write a word2vec file: .bin, .txt or .vec."""
        write_vectors(Path(path), self.words, self.vectors, space=space)


class ImputedModel(Model):
    """Vectors of entities; table: how far to trust each, which iterates over rows.

    validation: its lines, as the command line prints them; empty where it was not asked for.
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


def count(
    corpus: PathLike | Iterable[PathLike],
    *,
    out: PathLike | None = None,
    shard: str | None = None,
    save_vocab: PathLike | None = None,
    **options: Any,
) -> Counts:
    """Count the co-occurrences in text files; options are those of `wordgeom build-cooc`.

    shard: "i/N" counts one part. Raises a WordgeomError that says what is wrong in one line.
    """
    from wordgeom.stages import build_cooc

    files = _texts("count", corpus)
    common = (ResumeOptions, RunOptions)
    reading, window, resume, run = options_of(
        "count", options, CorpusOptions, WindowOptions, *common
    )
    part = None if shard is None else build_cooc.Shard.parse(str(shard))
    words = None if save_vocab is None else os.fspath(save_vocab)
    with _folder(out, "cooc") as (folder, temporary):
        built = build_cooc.build_cooc(
            files, folder, reading, window, run, shard=part, save_vocab=words, resume=resume
        )
        return Counts(folder, built.summary, built.warnings, temporary)


def count_documents(
    corpus: PathLike | Iterable[PathLike],
    *,
    out: PathLike | None = None,
    save_vocab: PathLike | None = None,
    **options: Any,
) -> DocumentCounts:
    """Count the words of each document in text files; options of `wordgeom build-dtm`."""
    from wordgeom.stages import build_dtm

    classes = (CorpusOptions, ResumeOptions, RunOptions)
    reading, resume, run = options_of("count_documents", options, *classes)
    files = _texts("count_documents", corpus)
    words = None if save_vocab is None else os.fspath(save_vocab)
    with _folder(out, "dtm") as (folder, temporary):
        built = build_dtm.build_dtm(files, folder, reading, run, save_vocab=words, resume=resume)
        return DocumentCounts(folder, built.summary, built.warnings, temporary)


def pmi(
    counts: PathLike | MatrixHandle, *, out: PathLike | None = None, **options: Any
) -> Weighted:
    """Weight counts by pointwise mutual information; options of `wordgeom build-pmi`."""
    from wordgeom.stages import train as training

    weighting, resume, run = options_of("pmi", options, PmiOptions, ResumeOptions, RunOptions)
    with _folder(out, "pmi") as (folder, temporary):
        built = training.build_pmi(_path(counts), folder, weighting, run, resume=resume)
        return Weighted(folder, built.summary, built.warnings, temporary)


def train(
    matrix: PathLike | MatrixHandle,
    method: str,
    *,
    out: PathLike | None = None,
    documents: PathLike | None = None,
    space: str | None = None,
    **options: Any,
) -> Model:
    """Make vectors of a matrix; options are those of `wordgeom train --method METHOD`.

    out: also write them there, with a run card; documents: and those of documents there. Raises a
    WordgeomError.
    """
    from wordgeom.stages import train as training
    from wordgeom.stages.method_inputs import source_of
    from wordgeom.stages.train_output import DOCUMENTS
    from wordgeom.vectors import run_card

    own = load_method(method)
    common = (source_of(own).weighting, DeviceOptions, ResumeOptions, RunOptions)
    *_, run = options_of("train", options, own.Options, *common)
    made = training.train(
        _path(matrix), method, plain(options), run, out=out, documents=documents, space=space
    )
    if made.vectors is None and out is not None:  # up to date
        card = run_card.read_card(Path(out)) or {}
        beside = None if documents is None else read_vectors(Path(documents)).matrix
        words, statistics = read_vectors(Path(out)), card.get("statistics", {})
        return Model(words, card.get("notes", []), statistics, beside)
    assert made.vectors is not None
    return Model(made.vectors, made.notes, made.statistics, made.arrays.get(DOCUMENTS))


def extend(
    vectors: PathLike | Model | KeyedVectors,
    counts: PathLike | MatrixHandle,
    *,
    out: PathLike | None = None,
    space: str | None = None,
    **options: Any,
) -> Model:
    """Give vectors to the words of counts that `vectors` lack; options of `wordgeom extend`.

    vectors: a file, whose run card tells how pairs were weighted, a model, or gensim's. out: also
    write them there, with a run card. Raises a WordgeomError.
    """
    from wordgeom.methods.gbu.extension import ExtendOptions
    from wordgeom.stages import extend as extending
    from wordgeom.vectors import run_card

    *_, run = options_of("extend", options, ExtendOptions, RunOptions)
    source = _source(vectors)
    made = extending.extend(source, _path(counts), plain(options), run, out=out, space=space)
    if made.vectors is None and out is not None:  # up to date
        card = run_card.read_card(Path(out)) or {}
        return Model(read_vectors(Path(out)), card.get("notes", []), card.get("statistics", {}))
    assert made.vectors is not None
    return Model(made.vectors, made.notes, made.statistics)


def impute(
    domain: PathLike,
    vectors: PathLike | Model | KeyedVectors = "vectors.bin",
    *,
    out: PathLike | None = None,
    table: PathLike | None = None,
    **options: Any,
) -> ImputedModel:
    """Give every entity of a table's file a vector; options are those of `wordgeom impute`.

    vectors: a file, a model, or gensim's. out: also write them there, with a table of trust and a
    run card. Raises a WordgeomError.
    """
    from wordgeom.imputation.output import table_path
    from wordgeom.imputation.trust_table import read_trust
    from wordgeom.stages import impute as imputing
    from wordgeom.vectors import run_card

    if not isinstance(domain, (str, os.PathLike)):
        do = "write it first: numpy.save, or to_csv of pandas"
        raise OptionError("domain must name a file", found=type(domain).__name__, do=do)
    *_, run = options_of("impute", options, DomainOptions, ImputeOptions, RunOptions)
    source = _source(vectors)
    made = imputing.impute(domain, source, plain(options), run, out=out, table=table)
    if made.vectors is not None and made.trust is not None:
        return ImputedModel(
            made.vectors, made.notes, made.statistics, made.trust, made.validation
        )  # fmt: skip
    assert out is not None  # up to date
    read, card = read_vectors(Path(out)), run_card.read_card(Path(out)) or {}
    held = read_trust(Path(table or table_path(Path(out))))
    return ImputedModel(
        read, card.get("notes", []), card.get("statistics", {}), held, made.validation
    )  # fmt: skip


def convert(source: PathLike, target: PathLike, **options: Any) -> Converted:
    """Rewrite vectors or a matrix in another format; options are those of `wordgeom convert`.

    source_format, target_format: --from and --to. Raises a WordgeomError.
    """
    from wordgeom.stages import convert as converting

    return converting.convert(source, target, **plain(options))


def score(
    vectors: PathLike | Model | KeyedVectors,
    sets: Sequence[PathLike] = (),
    *,
    categories: Sequence[PathLike] = (),
    classify: Sequence[PathLike] = (),
    regress: Sequence[PathLike] = (),
    **options: Any,
) -> Report:
    """Judge vectors by sets, or by those inside gensim; options are those of `wordgeom eval`.

    vectors: a file, a model, or gensim's. The report's `scores` are a list; `to_dict()` is what
    --json prints. Raises a WordgeomError.
    """
    from wordgeom.evaluation.sets import read_tasks
    from wordgeom.stages import evaluate

    judging, run = options_of("score", options, EvalOptions, UseOptions)
    tasks = read_tasks(
        _paths(sets), _paths(categories), _paths(classify), _paths(regress), judging
    )  # fmt: skip
    source = _source(vectors)
    if isinstance(source, Vectors):
        return evaluate.evaluate_vectors(source, repr(vectors), tasks, judging, run)
    return evaluate.evaluate(os.fspath(source), tasks, judging, run)


def load_vectors(path: PathLike, *, limit: int | None = None) -> KeyedVectors:
    """Read a word2vec file, binary or text, as gensim's KeyedVectors."""
    return to_keyed_vectors(read_vectors(Path(path), limit=limit))


def open_matrix(path: PathLike) -> MatrixHandle:
    """Open a matrix that was made before."""
    kind = open_stored(path).store.kind
    return {COOC: Counts, DTM: DocumentCounts}.get(kind, Weighted)(path)


def _texts(function: str, corpus: PathLike | Iterable[PathLike]) -> list[str]:
    """Return the names of a corpus as text; raises OptionError where there are none."""
    names = [corpus] if isinstance(corpus, (str, os.PathLike)) else list(corpus)
    if not names:
        raise OptionError(f"{function} needs a text file", found="none")
    return [os.fspath(name) for name in names]


def _paths(names: Sequence[PathLike]) -> list[str]:
    """Return file names as text; a lone one is meant as a list of itself."""
    listed = [names] if isinstance(names, (str, os.PathLike)) else names
    return [os.fspath(name) for name in listed]


def _source(vectors: PathLike | Model | KeyedVectors) -> PathLike | Vectors:
    """Return what names a file as it is, vectors in memory as ours."""
    if isinstance(vectors, (str, os.PathLike)):
        return vectors
    if isinstance(vectors, Model):
        return vectors.read
    if hasattr(vectors, "index_to_key"):  # gensim, which need not be there, is not asked
        return from_keyed_vectors(vectors)
    what = "vectors must be a file's name, a model or gensim's KeyedVectors"
    raise OptionError(what, found=type(vectors).__name__)


def _path(matrix: PathLike | MatrixHandle) -> PathLike:
    return matrix.path if isinstance(matrix, MatrixHandle) else matrix


@contextlib.contextmanager
def _folder(out: PathLike | None, name: str) -> Iterator[tuple[Path, Path | None]]:
    """Yield where to write, and the temporary folder that goes with it, removed on failure."""
    if out is not None:
        yield Path(out), None
        return
    temporary = Path(tempfile.mkdtemp(prefix="wordgeom-"))
    try:
        yield temporary / name, temporary
    except BaseException:
        _remove(temporary)
        raise


def _remove(folder: Path | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
