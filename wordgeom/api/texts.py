"""What Python callers count: names of files, or texts and lists of tokens in memory.

Texts are passed on as JSON Lines, one at a time, so that a generator is read once and no copy of
it is made. Tokens are joined by spaces, at which the tokeniser splits them again.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NoReturn

from wordgeom.core.errors import InputError, MissingInputError, OptionError, WordgeomError
from wordgeom.corpus.inputs.held_texts import HELD, holding
from wordgeom.corpus.inputs.patterns import is_pattern
from wordgeom.corpus.options import CorpusOptions

_SPACE = re.compile(r"[\t\n\v\f\r \0]")
_FILE_NAME = re.compile(r"\S+\.\w{1,5}")
_TEXT = "text"
_SHOWN = 60


@dataclass
class Texts:
    """Names for a stage; documents: where they stand for documents in memory, else None."""

    names: tuple[str, ...]
    reading: CorpusOptions
    documents: Iterator[Any] | None = None
    failure: Exception | None = None

    @contextlib.contextmanager
    def readable(self) -> Iterator[None]:
        """Let the names be read while the block runs; errors name documents by number."""
        if self.documents is None:
            yield
            return
        try:
            with holding(self._lines(self.documents)):
                yield
        except WordgeomError as error:
            if self.failure is not None:  # of the caller's own iterator
                raise self.failure from None
            error.where = error.where.replace(f"{HELD} line ", "document ")
            error.reword(str)
            raise

    def _lines(self, documents: Iterator[Any]) -> Iterator[bytes]:
        try:
            for number, document in enumerate(documents, 1):
                yield _line(document, number, self.reading)
        except Exception as error:
            self.failure = error
            raise


def texts_of(function: str, corpus: Any, texts: Any, reading: CorpusOptions) -> Texts:
    """Return what to count. Raises OptionError, InputError for anything else than text.

    Strings in `corpus` name files if they are alone, or in a list or tuple; else they are texts.
    """
    if (corpus is None) == (texts is None):
        what = f"{function} needs text: the names of files, or texts="
        raise OptionError(what, found="none" if texts is None else "both")
    given = corpus if texts is None else texts
    if isinstance(given, (str, os.PathLike)):
        if texts is not None:
            raise OptionError("texts= is one text", do="pass a list of texts")
        return Texts(_names([given]), reading)
    if isinstance(given, (bytes, Mapping)) or not hasattr(given, "__iter__"):
        raise OptionError(f"{function} cannot read this", found=type(given).__name__,
                          do="pass the names of files, texts or lists of tokens")  # fmt: skip
    if hasattr(given, "columns"):
        do = 'choose its column of texts, as in df["text"], or pass df.to_dict("records")'
        raise OptionError("a table is not text", found=type(given).__name__, do=do)
    documents = iter(given)
    first = next(documents, None)
    if first is None and not (isinstance(given, (list, tuple)) and given):
        raise OptionError(f"{function} needs a text file or a text", found="none")
    every = chain([first], documents)
    if texts is None and isinstance(first, (str, os.PathLike)):
        if isinstance(given, (list, tuple)) or isinstance(first, os.PathLike):
            return Texts(_names(every), reading)
        if os.path.exists(first) or _FILE_NAME.fullmatch(first):
            do = "pass a list of the names, or texts= if these are texts"
            raise OptionError("the first text looks like the name of a file", found=repr(first),
                              do=do)  # fmt: skip
    return Texts((HELD,), _reading(first, reading), every)


def _names(given: Iterable[Any]) -> tuple[str, ...]:
    """Return names of files as text; raises MissingInputError for what must be a text."""
    names = []
    for number, name in enumerate(given, 1):
        if not isinstance(name, (str, os.PathLike)):
            _refuse(number, name, "the name of a file")
        path = os.fspath(name)
        if _SPACE.search(path) and not (os.path.lexists(path) or is_pattern(path)):
            shown = path if len(path) <= _SHOWN else f"{path[:_SHOWN]}…"
            do = "check the path; a text is passed as texts=[text]"
            raise MissingInputError("no such file", where=shown, do=do)
        names.append(path)
    return tuple(names)


def _reading(first: Any, reading: CorpusOptions) -> CorpusOptions:
    """Return the options to read JSON Lines that hold texts, or tokens if the first ones do."""
    if reading.input_format != "auto":
        raise OptionError("texts in memory have no format", do="leave input_format= out")
    tokeniser = reading.tokeniser
    if not isinstance(first, (str, Mapping)):
        if tokeniser not in ("auto", "whitespace"):
            found, do = f'tokeniser="{tokeniser}"', "leave it out, or pass texts"
            raise OptionError("lists of tokens are not split again", found=found, do=do)
        tokeniser = "whitespace"
    return replace(reading, input_format="jsonl", tokeniser=tokeniser)


def _line(document: Any, number: int, reading: CorpusOptions) -> bytes:
    """Return a document as a line of JSON."""
    of_tokens = reading.tokeniser == "whitespace"
    if isinstance(document, Mapping):
        record = _record(document, number, reading)
    elif isinstance(document, str):
        record = {_TEXT: document}
    elif not of_tokens or isinstance(document, bytes) or not hasattr(document, "__iter__"):
        _refuse(number, document, "a text")
    else:
        record = {_TEXT: _joined(document, number)}
    return json.dumps(record, default=_plain).encode("ascii") + b"\n"


def _joined(tokens: Iterable[Any], number: int) -> str:
    listed = list(tokens)
    for place, token in enumerate(listed, 1):
        if not isinstance(token, str):
            _refuse(number, token, "text", f", token {place}")
        if not token or _SPACE.search(token):
            do = "leave it out" if not token.strip() else "join its words by _, or split it"
            what = "is empty" if not token else "contains white space"
            raise InputError(what, where=f"document {number}, token {place}", found=repr(token),
                             do=do)  # fmt: skip
    return " ".join(listed)


def _record(record: Mapping[str, Any], number: int, reading: CorpusOptions) -> dict[str, Any]:
    """Return the fields of a record that are read; NaN is missing."""
    field = reading.text_field or _TEXT
    if field in record and not isinstance(record[field], str):
        _refuse(number, record[field], "text", f", {field!r}")
    wanted = (field, reading.id_field, reading.time_field)
    held = [k for k in record if any(k == name or f"{name}".startswith(f"{k}.") for name in wanted)]
    return {k: None if _is_nan(record[k]) else record[k] for k in held}


def _refuse(number: int, value: Any, wanted: str, place: str = "") -> NoReturn:
    missing = value is None or _is_nan(value)
    do = "drop it, or fill it with ''" if missing else ""
    if hasattr(value, "lemma_"):  # a token of spaCy, or a span
        do = "pass [token.text for token in doc]"
    found = repr(value)[:_SHOWN] if missing else type(value).__name__
    raise InputError(f"is not {wanted}", where=f"document {number}{place}", found=found, do=do)


def _is_nan(value: Any) -> bool:
    """Return whether a value is one of the missing ones of pandas; they differ from themselves."""
    return type(value).__name__ in ("NAType", "NaTType") or bool(
        isinstance(value, float) and value != value
    )


def _plain(value: Any) -> Any:
    """Return a scalar of NumPy, or a date, as JSON."""
    if hasattr(value, "isoformat"):
        return value.isoformat().removesuffix("T00:00:00")
    return value.item() if hasattr(value, "item") else str(value)
