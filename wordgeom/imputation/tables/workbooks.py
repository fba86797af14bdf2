"""Detect spreadsheet workbooks, which are not supported, to raise a helpful error."""

from __future__ import annotations

import zipfile
from pathlib import Path

from wordgeom.core.errors import InputError
from wordgeom.imputation.tables.files import opened

ZIP = b"PK\x03\x04"
_OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # .xls
_OPEN_DOCUMENT = (
    b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"  # the first member of .ods
)
_EXCEL = "xl/workbook."


def check_not_workbook(path: Path, head: bytes) -> None:
    """Raise InputError for a workbook; head: the first bytes of the file."""
    if head.startswith(_OLD) or _OPEN_DOCUMENT in head or _is_excel(path, head):
        raise InputError("is a workbook", where=path, do="save each sheet as a CSV file")


def members(path: Path, head: bytes) -> list[str] | None:
    """Return the names in a zip archive; None for other files, and for a broken archive."""
    if not head.startswith(ZIP):
        return None
    try:
        with opened(path) as source, zipfile.ZipFile(source) as packed:
            return packed.namelist()
    # Everything that zipfile raises for a broken archive, which the archive reader reports.
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, ValueError):
        return None


def _is_excel(path: Path, head: bytes) -> bool:
    return any(name.startswith(_EXCEL) for name in members(path, head) or ())
