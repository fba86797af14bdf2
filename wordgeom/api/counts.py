"""Counts and matrices in Python.

    counts = wg.count("corpus.txt", window=10, window_weight="flat")
    counts.to_scipy()

Every option of the command line is a keyword here, spelt with underscores. Without `out` a matrix
lies in a temporary directory, which is removed with its handle. A stage is imported where it is
used: `import wordgeom` must not wait for Numba.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from wordgeom.api.keywords import taken, takes
from wordgeom.api.messages import public, run
from wordgeom.api.texts import texts_of
from wordgeom.core.errors import OptionError, StoppedError
from wordgeom.core.formatting import plural
from wordgeom.core.types import Int64
from wordgeom.corpus.options import CorpusOptions, PassageOptions
from wordgeom.counts.windows import WindowOptions
from wordgeom.matrices.cooccurrence import COOC, DTM
from wordgeom.matrices.document_term import (
    Document,
    StoredDocuments,
    open_stored,
    source_documents,
)
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.storage.files import Closing
from wordgeom.weighting.options import PmiOptions

if TYPE_CHECKING:
    import scipy.sparse

PathLike = str | os.PathLike[str]


class MatrixHandle(Closing):
    """A stored matrix; a temporary one is removed with the handle, or by close().

    summary, notes: as printed by the command line.
    """

    def __init__(
        self,
        path: PathLike,
        summary: str = "",
        notes: Sequence[str] = (),
        temporary: Path | None = None,
    ) -> None:
        self._path, self._directory = Path(path), Path.cwd()
        self.summary, self.notes = summary, list(notes)
        self._matrix = open_stored(self._directory / path)
        self._is_temporary = temporary is not None
        self._finalize = weakref.finalize(self, _remove, temporary)

    def __repr__(self) -> str:
        rows, columns = self._matrix.store.attributes["shape"]
        size = plural(columns, "word")
        if isinstance(self._matrix, StoredDocuments):
            size = f"{plural(rows, self._matrix.unit)} × {size}"
        place = "a temporary directory" if self._is_temporary else self.path
        return f"<{type(self).__name__} of {size} in {place}>"

    def __deepcopy__(self, _: object) -> Self:
        # A copy, such as scikit-learn's clone makes, shares the directory and its end.
        return self

    def close(self) -> None:
        """Remove the matrix if it is temporary."""
        self._finalize()

    @property
    def path(self) -> Path:
        """The store, relative if it was named so and the working directory is the same."""
        return self._path if Path.cwd() == self._directory else self._directory / self._path

    @property
    def words(self) -> list[str]:
        """The V words, in row order."""
        return self._matrix.vocabulary.words

    @property
    def frequencies(self) -> Int64:
        """Corpus counts of the words, (V) int64."""
        return self._matrix.vocabulary.counts

    @property
    def digest(self) -> str:
        """SHA-256 of the content."""
        return self._matrix.store.digest

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the full matrix (V × V), both triangles, counts as floats."""
        return self._matrix.to_scipy()


class Counts(MatrixHandle):
    """Co-occurrence counts."""


class Weighted(MatrixHandle):
    """A PMI matrix."""


class DocumentCounts(MatrixHandle):
    """A document-term matrix: to_scipy() is (n × V), a row for each of documents()."""

    def documents(self) -> list[Document]:
        """Return the document of each row (n): file (from 1), line, id, time."""
        return StoredDocuments.open(self.path).documents()

    def source_documents(self) -> Int64:
        """Return the index of the document of each row (n) int64, which passages share."""
        return source_documents(self.documents())


@takes(CorpusOptions, WindowOptions, ResumeOptions, RunOptions)
def count(
    corpus: PathLike | Iterable[PathLike | Sequence[str] | Mapping[str, Any]] | None = None,
    *,
    texts: Iterable[str | Sequence[str] | Mapping[str, Any]] | None = None,
    out: PathLike | None = None,
    shard: str | None = None,
    save_vocab: PathLike | None = None,
    **options: Any,
) -> Counts:
    """Count the co-occurrences in text; options are those of `wordgeom build-cooc`.

    corpus: the name of a file, a list of names, or lists of tokens; texts: an iterable of texts,
    lists of tokens, or records (a dict each), which is read once; a string in an iterable that is
    no list or tuple is a text in `corpus` too. Each one is a document.
    shard: "i/N" counts one part. Raises WordgeomError.
    """
    from wordgeom.stages.build_cooc import BuildCooc
    from wordgeom.stages.shard import Shard

    reading, window, resume, using = taken("count", options)
    given = texts_of("count", corpus, texts, reading)
    part = None if shard is None else Shard.parse(str(shard))
    words = None if save_vocab is None else Path(save_vocab)
    with _directory(out, "cooc") as (folder, temporary), given.readable():
        stage = BuildCooc(given.names, folder, given.reading, using, resume, words, window, part)
        made = run(stage)
        return Counts(folder, made.summary, made.notes, temporary)


@takes(CorpusOptions, PassageOptions, ResumeOptions, RunOptions)
def count_documents(
    corpus: PathLike | Iterable[PathLike | Sequence[str] | Mapping[str, Any]] | None = None,
    *,
    texts: Iterable[str | Sequence[str] | Mapping[str, Any]] | None = None,
    out: PathLike | None = None,
    save_vocab: PathLike | None = None,
    **options: Any,
) -> DocumentCounts:
    """Count the words of each document in text; options are those of `wordgeom build-dtm`.

    corpus, texts: as in `count`; each text has a row, even an empty one, or a row for each of its
    passages. Raises WordgeomError.
    """
    from wordgeom.stages.build_dtm import BuildDtm

    reading, splitting, resume, using = taken("count_documents", options)
    given = texts_of("count_documents", corpus, texts, reading)
    words = None if save_vocab is None else Path(save_vocab)
    with _directory(out, "dtm") as (folder, temporary), given.readable():
        stage = BuildDtm(given.names, folder, given.reading, using, resume, words, splitting)
        made = run(stage)
        return DocumentCounts(folder, made.summary, made.notes, temporary)


@takes(PmiOptions, ResumeOptions, RunOptions)
def pmi(
    counts: PathLike | MatrixHandle, *, out: PathLike | None = None, **options: Any
) -> Weighted:
    """Weight counts by pointwise mutual information; options are those of `wordgeom build-pmi`."""
    from wordgeom.stages.build_pmi import BuildPmi

    weighting, resume, using = taken("pmi", options)
    with _directory(out, "pmi") as (folder, temporary):
        made = run(BuildPmi(matrix_path(counts), folder, weighting, using, resume))
        return Weighted(folder, made.summary, made.notes, temporary)


@public
def open_matrix(path: PathLike) -> MatrixHandle:
    """Open a stored matrix."""
    kind = open_stored(file_path(path)).store.kind
    return {COOC: Counts, DTM: DocumentCounts}.get(kind, Weighted)(path)


def matrix_path(matrix: PathLike | MatrixHandle) -> Path:
    """Return the directory of a matrix; raises OptionError for what is none."""
    if isinstance(matrix, MatrixHandle):
        return matrix.path
    if isinstance(matrix, (str, os.PathLike)):
        return Path(matrix)
    do = "count text with wg.count first"
    raise OptionError("not a matrix or the name of one", found=type(matrix).__name__, do=do)


def file_path(name: Any, do: str = "") -> Path:
    """Return the name of a file as a path; raises OptionError for what is none."""
    if isinstance(name, (str, os.PathLike)):
        return Path(name)
    raise OptionError("expected the name of a file", found=type(name).__name__, do=do)


@contextlib.contextmanager
def _directory(out: PathLike | None, name: str) -> Iterator[tuple[Path, Path | None]]:
    """Yield where to write, and the temporary directory around it, removed on failure."""
    if out is not None:
        yield Path(out), None
        return
    temporary = Path(tempfile.mkdtemp(prefix="wordgeom-"))
    try:
        yield temporary / name, temporary
    except StoppedError:
        _remove(temporary)
        raise KeyboardInterrupt("interrupted; only a run with out= can be resumed") from None
    except BaseException:
        _remove(temporary)
        raise


def _remove(folder: Path | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
