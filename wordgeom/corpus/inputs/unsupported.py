"""Reject files that are not text, and tell binary data from text in another encoding."""

from __future__ import annotations

from wordgeom.core.errors import InputError
from wordgeom.storage.foreign import recognise

PARQUET = b"PAR1"  # the first and last bytes of a Parquet file
_CHECKED = 1 << 16  # bytes
_CONTROLS = bytes([*range(9), *range(14, 27)])
_CONTROLS_SHARE = 32  # fewer than one byte in this many is a control character in text


def reject_unsupported(start: bytes, name: str) -> None:
    """Raise InputError if the first bytes of a file are not text, naming its real format."""
    if start.startswith(PARQUET):
        do = "pass --input-format parquet"
        raise InputError("is Parquet, not text", where=name, do=do)
    foreign = recognise(start, name)
    if foreign is not None:
        what = f"{foreign.line}, not text" if foreign.sure else foreign.line
        raise InputError(what, where=name, found=foreign.found, do=foreign.do)


def is_binary(text: bytes) -> bool:
    """Return whether bytes that are not UTF-8 contain too many control characters for text."""
    start = text[:_CHECKED]
    return _CONTROLS_SHARE * (len(start) - len(start.translate(None, _CONTROLS))) > len(start)
