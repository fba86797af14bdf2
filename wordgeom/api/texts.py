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
from dataclasses import dataclass
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
_SKIP = "skip"
MISSING = "drop it, or fill it with ''"  # advice


@dataclass
class Texts:
    """Names for a stage.

    documents: what they stand for in memory, None for files; tokens: they are lists of tokens;
    failure: of the caller's own iterator.
    """

    names: tuple[str, ...]
    reading: CorpusOptions
    documents: Iterator[Any] | None = None
    tokens: bool = False
    failure: Exception | None = None

    @contextlib.contextmanager
    def readable(self) -> Iterator[None]:
        """Let the names be read while the block runs; failures of the iterator are raised."""
        if self.documents is None:
            yield
            return
        try:
            with holding(self._lines(self.documents)):
                yield
        except WordgeomError:
            if self.failure is not None:
                raise self.failure from None
            raise

    def _lines(self, documents: Iterator[Any]) -> Iterator[bytes]:
        try:
            for number, document in enumerate(documents, 1):
                yield self._line(document, number)
        except Exception as error:
            self.failure = error
            raise

    def _line(self, document: Any, number: int) -> bytes:
        """Return a document as a line of JSON; null stands for a missing one to skip."""
        record: dict[str, Any]
        if is_missing(document) and self.reading.bad_records == _SKIP:
            record = {self.reading.text_field or _TEXT: None}
        elif self.tokens:
            if isinstance(document, (str, bytes, Mapping)) or not hasattr(document, "__iter__"):
                _refuse(number, document, "a list of tokens")
            record = {_TEXT: _joined(document, number)}
        elif isinstance(document, Mapping):
            record = _record(document, number, self.reading)
        elif isinstance(document, str):
            record = {_TEXT: document}
        else:
            _refuse(number, document, "a text")
        return json.dumps(record, default=_plain).encode("ascii") + b"\n"


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
    documents = _iterated(function, given)
    first, every = _peeked(documents, skip=reading.bad_records == _SKIP)
    if first is None and not (isinstance(given, (list, tuple)) and given):
        raise OptionError(f"{function} needs a text file or a text", found="none")
    if texts is None and isinstance(first, (str, os.PathLike)):
        if isinstance(given, (list, tuple)) or isinstance(first, os.PathLike):
            return Texts(_names(every), reading)
        _check_no_name(first)
    if isinstance(first, bytes) or hasattr(first, "_fields") or not hasattr(first, "__iter__"):
        _refuse(1, first, "a text or a list of tokens")
    tokens = not isinstance(first, (str, Mapping))
    return Texts((HELD,), _reading(reading, tokens), every, tokens)


def _peeked(documents: Iterator[Any], *, skip: bool) -> tuple[Any, Iterator[Any]]:
    """Return the first document, behind missing ones to skip, and all of them; None for none."""
    seen: list[Any] = []
    for document in documents:
        seen.append(document)
        if not (skip and is_missing(document)):
            return document, chain(seen, documents)
    return None, iter(seen)


def _iterated(function: str, given: Any) -> Iterator[Any]:
    """Return the items of an argument; raises OptionError for what cannot be texts."""
    if hasattr(given, "columns"):
        do = 'choose its column of texts, as in df["text"], or pass df.to_dict("records")'
        raise OptionError("a table is not text", found=type(given).__name__, do=do)
    if isinstance(given, (bytes, Mapping)) or not hasattr(given, "__iter__"):
        do = "pass the names of files, texts or lists of tokens"
        raise OptionError(f"{function} cannot read this", found=type(given).__name__, do=do)
    return iter(given)


def looks_like_name(text: str) -> bool:
    """Return whether a text may be the name of a file: one word with a suffix."""
    return _FILE_NAME.fullmatch(text) is not None


def _check_no_name(text: str) -> None:
    """Raise OptionError where the first text may be the name of a file."""
    if os.path.exists(text) or looks_like_name(text):
        do = "pass a list of the names, or texts= if these are texts"
        what = "the first text looks like the name of a file"
        raise OptionError(what, found=repr(text[:_SHOWN]), do=do)


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


def _reading(reading: CorpusOptions, tokens: bool) -> CorpusOptions:
    """Return the options to read JSON Lines that hold texts, or tokens joined by spaces."""
    if reading.input_format != "auto":
        raise OptionError("texts in memory have no format", do="leave input_format= out")
    tokeniser = reading.tokeniser
    if tokens:
        if tokeniser not in ("auto", "whitespace"):
            found, do = f'tokeniser="{tokeniser}"', "leave it out, or pass texts"
            raise OptionError("lists of tokens are not split again", found=found, do=do)
        tokeniser = "whitespace"
    return reading.but(input_format="jsonl", tokeniser=tokeniser)


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
    skipped = reading.bad_records == _SKIP and is_missing(record.get(field))
    if field in record and not (isinstance(record[field], str) or skipped):
        _refuse(number, record[field], "text", f", {field!r}")
    wanted = (field, reading.id_field, reading.time_field)
    if field.split(".")[0] not in record and field not in record:
        do, found = "name the field of the text with text_field=", ", ".join(map(str, record))
        what = f"has no field {field!r}"
        raise InputError(what, where=f"document {number}", found=found[:_SHOWN] or "{}", do=do)
    held = [k for k in record if any(k == name or f"{name}".startswith(f"{k}.") for name in wanted)]
    return {k: None if is_missing(record[k]) else record[k] for k in held}


def _refuse(number: int, value: Any, wanted: str, place: str = "") -> NoReturn:
    missing = is_missing(value)
    do = MISSING if missing else ""
    if hasattr(value, "lemma_"):  # a token of spaCy, or a span
        do = "pass [token.text for token in doc]"
    elif hasattr(value, "_fields"):  # a row of df.itertuples()
        do = 'pass df.to_dict("records")'
    found = repr(value)[:_SHOWN] if missing else type(value).__name__
    raise InputError(f"is not {wanted}", where=f"document {number}{place}", found=found, do=do)


def is_missing(value: Any) -> bool:
    """Return whether a value is None, or a missing one of pandas; NaN differs from itself."""
    return (
        value is None
        or type(value).__name__ in ("NAType", "NaTType")
        or bool(isinstance(value, float) and value != value)
    )


def _plain(value: Any) -> Any:
    """Return a scalar of NumPy, or a date, as JSON."""
    if hasattr(value, "isoformat"):
        return value.isoformat().removesuffix("T00:00:00")
    return value.item() if hasattr(value, "item") else str(value)
