"""The fields of a line, between signs or blanks; those in quotes may hold the sign, as in CSV."""

from __future__ import annotations

import csv

from wordgeom.core.errors import InputError

_QUOTE = '"'


def split_fields(line: str, sign: str, where: str) -> list[str]:
    """Return the fields of a line between signs, or between blanks where `sign` is "".

    Between blanks a quote is a letter. Between tabs it is one too where it closes nothing, since a
    word may be a quote. Raises InputError, naming `where`, for other quotes that are not closed.
    """
    if not sign:
        return line.split()
    if _QUOTE not in line:
        return line.split(sign)
    try:
        return next(csv.reader([line], delimiter=sign, skipinitialspace=True, strict=True))
    except csv.Error as error:
        if sign == "\t":
            return line.split(sign)
        do = "close its quotes; a row is one line"
        raise InputError("is not CSV", where=where, found=error, do=do) from None
