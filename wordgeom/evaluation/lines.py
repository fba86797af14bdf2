"""Read the lines of an evaluation set, UTF-8 text, plain or gzip, and split them into fields."""

from __future__ import annotations

import csv
import gzip
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from wordgeom.core.errors import FormatError, InputError
from wordgeom.corpus.records.csv_records import LONGEST
from wordgeom.evaluation.options import EvalOptions
from wordgeom.storage.foreign import CHECKED, recognise
from wordgeom.storage.opening import reading

_MAX_BYTES = 1 << 30  # unpacked: a small gzip file may expand without limit
_CHUNK = 1 << 20
_QUOTE = '"'
_BOM = b"\xef\xbb\xbf"
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class SetFile:
    """An evaluation set that was read from a file."""

    path: str
    options: EvalOptions

    @property
    def name(self) -> str:
        """The name of the set."""
        return set_name(self.path)


def set_name(path: str | Path) -> str:
    """Return the name of a set: its file name without suffixes."""
    name = Path(path).name.removesuffix(".gz")
    return Path(name).stem or name


def read_lines(path: str | Path) -> list[tuple[int, str]]:
    """Return a text file's non-blank lines, each with its line number, counted from 1.

    A UTF-8 byte order mark and line ends (Unix, Windows or old Mac) are removed. Raises
    MissingInputError; FormatError for a broken gzip file; InputError for invalid UTF-8, naming the
    line, for more than 1 GiB, and for a file without text.
    """
    content = _content(Path(path))
    if len(content) > _MAX_BYTES:
        what = f"the file has more than {_MAX_BYTES:,} bytes"
        raise InputError(what, where=path, do="split it")
    text = _decoded(content.removeprefix(_BOM), path)
    if "\n" not in text:  # as spreadsheets write text for old Macs
        text = text.replace("\r", "\n")
    # Not splitlines(), which also splits at characters that may occur inside a text.
    numbered = ((n, line.removesuffix("\r")) for n, line in enumerate(text.split("\n"), 1))
    lines = [(number, line) for number, line in numbered if line.strip()]
    if not lines:
        what = "contains only white space" if content else "is empty"
        raise InputError(what, where=path, do="check the file")
    return lines


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
        csv.field_size_limit(LONGEST)  # of all readers of the process
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error as error:
        if delimiter == "\t":
            return line.split(delimiter)
        do = "close the quotes within the line"
        raise InputError(f"not valid CSV: {error}", where=where, do=do) from None


def _content(path: Path) -> bytes:
    with reading(path, "a file"), open(path, "rb") as raw:
        packed = raw.read(2) == _GZIP_MAGIC
        raw.seek(0)
        return _unpacked(raw, path) if packed else _bounded(raw)


def _unpacked(raw: BinaryIO, path: Path) -> bytes:
    try:
        with gzip.open(raw) as unpacked:
            return _bounded(cast(BinaryIO, unpacked))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        do = "check it with gzip -t and download it again"
        raise FormatError(f"broken gzip file: {error}", where=path, do=do) from None


def _bounded(source: BinaryIO) -> bytes:
    """Return a file's content, cut off soon after _MAX_BYTES."""
    content = bytearray()
    while len(content) <= _MAX_BYTES and (chunk := source.read(_CHUNK)):
        content += chunk
    return bytes(content)


def _decoded(content: bytes, path: str | Path) -> str:
    foreign = recognise(content[:CHECKED], str(path))
    if foreign is not None:
        raise InputError(foreign.line, where=path, found=foreign.found, do=foreign.do)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{content[error.start]:02x}"
        do = "convert the file to UTF-8"
        raise InputError("is not UTF-8", where=f"{path} line {line}", found=found, do=do) from None
