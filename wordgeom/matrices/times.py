"""The times of documents on one axis: numbers unchanged, ISO 8601 dates as decimal years.

A date is the year plus the fraction of it before the date: 1950 is 1950.0, 1950-07 is
1950 + 181/365. A time of day counts to fractions of a second, in UTC where it has a zone. Years are
those of the proleptic Gregorian calendar; 0000 is the year before 0001.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import several
from wordgeom.core.types import Float64, Int64
from wordgeom.matrices.document_term import Document

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_YEAR = re.compile(r"[+-]?\d{4}(\.\d*)?", re.ASCII)
_DATE = re.compile(
    r"(?P<year>[+-]?\d{4,6})-(?P<month>\d\d)(-(?P<day>\d\d)"
    r"([T ](?P<hour>\d\d):(?P<minute>\d\d)(:(?P<second>\d\d([.,]\d+)?))?"
    r" ?(?P<zone>Z|[+-]\d\d(:?\d\d)?)?)?)?",
    re.ASCII,
)
_RUN_TOGETHER = re.compile(r"[12]\d{3}(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])", re.ASCII)
_MINUS = "\N{MINUS SIGN}"
_DAY = 86_400
_KINDS = ("number", "date")
_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SHOWN = 40  # characters of a time in a message
_FORMATS = "use numbers, or dates such as 1950, 1950-07, 1950-07-31 or 1950-07-31T12:00"


@dataclass(frozen=True)
class Times:
    """The times of n documents.

    values (n) float64: NaN for a document without a time; missing: the rows without a time;
    unparsed: the rows whose time has an unknown format; problem: the error of the first of these.
    """

    values: Float64
    missing: Int64
    unparsed: Int64
    problem: InputError | None

    @property
    def known(self) -> Int64:
        """The rows with a time."""
        return np.flatnonzero(~np.isnan(self.values))

    @property
    def unread(self) -> str:
        """How many documents have no readable time, and why; "" if all have one."""
        kinds = (self.missing, "missing"), (self.unparsed, "of unknown format")
        counts = ", ".join(f"{len(rows):,} {kind}" for rows, kind in kinds if len(rows))
        number = len(self.missing) + len(self.unparsed)
        have = several(number, "document has no readable time", "documents have no readable time")
        return f"{have} ({counts})" if number else ""


def parse_times(documents: Sequence[Document], names: Sequence[str] = ()) -> Times:
    """Parse the times of documents; names: of their files, for messages.

    The caller decides whether a document without a time is an error or excluded. Raises InputError
    where no document has a time, and for a mixture of dates and numbers that are not years.
    """
    read = {text: parse_time(text) for text in {d.time for d in documents}}
    numbers = {text: math.nan if time is None else time.value for text, time in read.items()}
    values = np.array([numbers[d.time] for d in documents], np.float64)
    blank = np.array([not d.time.strip() for d in documents], bool)
    if blank.all():
        do = "record times with wordgeom build-dtm --time-field FIELD"
        raise InputError("no document has a time", where=", ".join(names[:1]), do=do)
    _check_mixture(documents, read, names)
    missing = np.flatnonzero(blank)
    unparsed = np.flatnonzero(np.isnan(values) & ~blank)
    unknown = np.flatnonzero(np.isnan(values))
    problem = _problem(documents[int(unknown[0])], names) if len(unknown) else None
    return Times(values, missing, unparsed, problem)


@dataclass(frozen=True)
class Time:
    """A parsed time; kind: "number", "year" (a number that may be a year) or "date"."""

    value: float
    kind: str


def parse_time(text: str) -> Time | None:
    """Return a time, or None for an invalid one and for 19500731, which is ambiguous."""
    text = text.strip().replace(_MINUS, "-")
    if _NUMBER.fullmatch(text):
        if _RUN_TOGETHER.fullmatch(text) or math.isinf(float(text)):
            return None
        return Time(float(text), "year" if _YEAR.fullmatch(text) else "number")
    parts = _DATE.fullmatch(text)
    value = None if parts is None else _date(parts)
    return None if value is None else Time(value, "date")


def read_time(text: str, what: str) -> float:
    """Return the value of a time; raises OptionError, which says `what` is wrong."""
    time = parse_time(text)
    if time is None:
        raise OptionError(what, found=repr(text), do=_FORMATS)
    return time.value


def _date(parts: re.Match[str]) -> float | None:
    """Return a date as a decimal year, None for an impossible one."""
    year, month, day = int(parts["year"]), int(parts["month"]), int(parts["day"] or 1)
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    months = [days + (leap and number == 1) for number, days in enumerate(_MONTHS)]
    if not (1 <= month <= len(months) and 1 <= day <= months[month - 1]):
        return None
    seconds = _seconds(parts)
    if seconds is None:
        return None
    days = [0, *accumulate(months)][month - 1] + day - 1
    return year + (days + seconds / _DAY) / sum(months)


def _seconds(parts: re.Match[str]) -> float | None:
    """Return the seconds since midnight in UTC, 0 without a time of day; None if impossible."""
    hour, minute = int(parts["hour"] or 0), int(parts["minute"] or 0)
    second = float((parts["second"] or "0").replace(",", "."))
    zone = (parts["zone"] or "Z").replace(":", "")
    ahead, behind = (0, 0) if zone == "Z" else (int(zone[1:3]), int(zone[3:] or 0))
    if hour > 23 or minute > 59 or second >= 61 or ahead > 23 or behind > 59:  # 60: a leap second
        return None
    away = 3600 * ahead + 60 * behind
    return 3600 * hour + 60 * minute + second + (away if zone[0] == "-" else -away)


def _check_mixture(
    documents: Sequence[Document], read: dict[str, Time | None], names: Sequence[str]
) -> None:
    """Raise InputError for numbers that are not years where there are dates."""
    kinds = {kind: {t for t, time in read.items() if time and time.kind == kind} for kind in _KINDS}
    if not all(kinds.values()):
        return
    first = {k: next(d for d in documents if d.time in kinds[k]) for k in _KINDS}
    date = f"{first['date'].time!r} in {_place(first['date'], names)}"
    what = f"{_named(first['number'])} has the time {first['number'].time!r}, but others {date}"
    where = _place(first["number"], names)
    raise InputError(what, where=where, do="use years or dates for all")


def _problem(document: Document, names: Sequence[str]) -> InputError:
    where, named = _place(document, names), _named(document)
    if not document.time.strip():
        return InputError(f"{named} has no time", where=where, do="correct the record")
    what = f"{named} has a time of unknown format, {document.time[:_SHOWN]!r}"
    return InputError(what, where=where, do=_FORMATS)


def _place(document: Document, names: Sequence[str]) -> str:
    known = 0 < document.file <= len(names)
    file = names[document.file - 1] if known else f"file {document.file}"
    return f"{file} line {document.line}"


def _named(document: Document) -> str:
    return f"the document {document.id[:_SHOWN]!r}" if document.id else "the document"
