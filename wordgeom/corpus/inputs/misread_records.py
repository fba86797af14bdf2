"""Signs that a file which is read as text holds records, and so was counted as what it is not."""

from __future__ import annotations

import json

_LINES = 2_000  # looked at
_BYTES = 1 << 20  # that they may take
_ADVICE = {
    "jsonl": ("JSONL", "--input-format jsonl"),
    "fasta": ("FASTA", "--input-format fasta"),
    "tsv": ("TSV", "--input-format tsv --text-field N"),
}


def judge(text: bytes) -> str:
    """Return the form, jsonl, fasta or tsv, that the first lines of a text have; "" for none."""
    begin = text[:_BYTES]
    if len(text) > len(begin):  # the last line is not whole
        begin = begin[: begin.rfind(b"\n") + 1]
    lines = [line for line in begin.split(b"\n", _LINES)[:_LINES] if line.strip()]
    if not lines:
        return ""
    if lines[0].lstrip().startswith(b"{") and _is_object(lines[0]):
        return "jsonl"
    if lines[0].startswith(b">") and any(line.startswith(b">") for line in lines[1:]):
        return "fasta"
    tabs = {line.count(b"\t") for line in lines}
    return "tsv" if len(lines) > 1 and len(tabs) == 1 and 0 not in tabs else ""


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def warning(name: str, form: str) -> str:
    """Return what to tell of a text that looks like records."""
    called, flags = _ADVICE[form]
    return f"{name} looks like {called} and was counted as text; pass {flags}"
