"""Sort the arguments of `compare` into matrices, vectors files and texts, by what they are."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wordgeom.core.errors import InputError, MissingInputError, OptionError, WordgeomError
from wordgeom.corpus.inputs.patterns import is_pattern
from wordgeom.corpus.inputs.readers import is_stream
from wordgeom.evaluation.answers import Task
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.sets import read_set
from wordgeom.evaluation.similarity import read_similarity
from wordgeom.formats import detection
from wordgeom.formats.projector import FILES
from wordgeom.storage import store
from wordgeom.vectors.run_card import card_path
from wordgeom.vectors.word2vec_header import NUMBER, name_suffix, opened

_SNIFFED = 1 << 16  # bytes of a file that show whether it holds vectors
_TASK_SIZE = 10**7  # bytes, more than a set of word pairs has


@dataclass(frozen=True)
class Arguments:
    """Directories of matrices, vectors files, and names of texts."""

    matrices: tuple[str, ...]
    vectors: tuple[str, ...]
    texts: tuple[str, ...]


def sorted_arguments(paths: Iterable[str]) -> Arguments:
    """Sort paths by their content; raises MissingInputError, and OptionError for a test set."""
    matrices, vectors, texts = [], [], []
    for path in paths:
        if store.exists(path):
            matrices.append(path)
        elif holds_vectors(Path(path)):
            vectors.append(path)
        else:
            _check_text(path)
            texts.append(path)
    return Arguments(tuple(matrices), tuple(vectors), tuple(texts))


def check_order(vectors: str, sets: Sequence[str]) -> None:
    """Raise InputError where `eval` is given a test set for the vectors, or vectors for a set."""
    binary = (detection.BIN, *detection.ARRAYS)
    if os.path.isfile(vectors) and not holds_vectors(Path(vectors)):
        found = next((name for name in sets if holds_vectors(Path(name))), None)
        if found is not None or _is_task(vectors, read_set):
            do = f"name the vectors first: wordgeom eval {found or 'VECTORS'} {vectors}"
            raise InputError("is not a vectors file", where=vectors, do=do)
    for name in sets:
        if detection.format_of(Path(name)) in binary and os.path.isfile(name):
            do = "to score several vectors files, use wordgeom compare"
            raise InputError("is a vectors file, not a test set", where=name, do=do)


def holds_vectors(path: Path) -> bool:
    """Return whether a path holds vectors, by its name or how it starts."""
    if path.is_dir():
        return all((path / name).exists() for name in FILES)
    if not path.is_file():
        return False
    binary = detection.format_of(path) in (*detection.ARRAYS, detection.BIN)
    if binary or name_suffix(path) == ".vec" or card_path(path).exists():
        return True
    with contextlib.suppress(WordgeomError), opened(path) as source:
        return _starts_vectors(source.read(_SNIFFED))
    return False


def _starts_vectors(head: bytes) -> bool:
    """Return whether a file starts with a word2vec header, or a line of a word and numbers."""
    fields = head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].split()
    if len(fields) == 2:
        return all(field.isdigit() for field in fields)
    numbers = sum(NUMBER.fullmatch(field) is not None for field in fields[1:])
    return len(fields) > 2 and 2 * numbers > len(fields) - 1


def _check_text(path: str) -> None:
    if is_stream(path) or is_pattern(path):
        return
    if not os.path.exists(path):
        raise MissingInputError("no such file or directory", where=path, do="check the path")
    if _is_task(path, read_similarity):
        raise OptionError("is a test set of word pairs", where=path, do="name it with --set")


def _is_task(path: str, read: Callable[[str, EvalOptions], Task]) -> bool:
    if os.path.isdir(path) or os.path.getsize(path) > _TASK_SIZE:
        return False
    try:
        read(path, EvalOptions())
    except WordgeomError:
        return False
    return True
