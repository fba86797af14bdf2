"""Lists of texts, as scikit-learn passes them to a transformer: a Series, an array, an iterable."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, NoReturn

from wordgeom.api.texts import MISSING, is_missing, looks_like_name
from wordgeom.core.errors import InputError

_DO = "pass a list of texts"


@contextlib.contextmanager
def lent_as_file(X: Iterable[str]) -> Iterator[str]:
    """Lend a list of texts as a file, to be read as those of `embed` are. Raises InputError."""
    _check_texts(X)
    folder = tempfile.mkdtemp(prefix="wordgeom-")
    path = os.path.join(folder, "texts.jsonl")
    try:
        with open(path, "w", encoding="ascii") as out:
            number = -1
            for number, text in enumerate(X):
                if not isinstance(text, str):
                    _refuse(number, text)
                out.write(f'{{"text": {json.dumps(text)}}}\n')
        if number < 0:
            raise InputError("no texts", found="0 samples", do=_DO)
        yield path
    except InputError as error:
        if error.where != path:
            raise
        raise InputError(error.what, where="the texts", found=error.found, do=error.do) from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
            os.rmdir(folder)


def _check_texts(X: Any) -> None:
    """Raise InputError for what is no list of texts: iterating it would give something else."""
    found, do = type(X).__name__, _DO
    if isinstance(X, (str, bytes)):
        found = "one"
    elif hasattr(X, "columns"):
        do = 'choose its column of texts: df["text"], and in a ColumnTransformer "text"'
    elif isinstance(X, (Set, Mapping)):
        do = "pass a list of texts, whose order is that of the rows"
    elif hasattr(X, "__iter__"):
        return
    raise InputError("expected several texts", found=found, do=do)


def check_no_names(X: Any) -> None:
    """Raise InputError for a list of names of files, which `count` reads."""
    if isinstance(X, (list, tuple)) and X and all(map(_is_name, X)):
        do = "read the files: [open(name).read() for name in names]"
        raise InputError("expected texts", found=f"the file name {X[0]!r}", do=do)


def _is_name(text: Any) -> bool:
    return isinstance(text, str) and looks_like_name(text) and os.path.isfile(text)


def _refuse(number: int, text: Any) -> NoReturn:
    """Raise InputError for an element, counted from 0, that is no string."""
    found, do = type(text).__name__, ""
    if is_missing(text):
        found, do = repr(text), MISSING
    elif isinstance(text, bytes):
        do = "decode it"
    elif isinstance(text, (list, tuple)):
        do = 'join its tokens by spaces, with text_options={"tokeniser": "whitespace"}'
    raise InputError(f"text {number} must be a string", found=found, do=do)
