"""Split a line into fields: delimited, with quotes as in CSV, or separated by white space."""

from __future__ import annotations

import csv

from wordgeom.core.errors import InputError

_QUOTE = '"'


def split_fields(line: str, delimiter: str, where: str) -> list[str]:
    """Return the fields of a line; an empty `delimiter` means white space.

    Without a delimiter a quote is an ordinary character. Between tabs an unbalanced quote is one
    too, because a word may be a quote. Raises InputError, naming `where`, for other unbalanced
    quotes.
    """
    if not delimiter:
        return line.split()
    if _QUOTE not in line:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error as error:
        if delimiter == "\t":
            return line.split(delimiter)
        do = "close the quotes within the line"
        raise InputError("not valid CSV", where=where, found=error, do=do) from None
