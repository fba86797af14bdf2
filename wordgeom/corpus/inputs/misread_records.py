"""Detect records (JSONL, TSV, FASTA) in a file that is read as plain text."""

from __future__ import annotations

import json

_LINES = 2_000  # lines checked
_BYTES = 1 << 20  # bytes checked
_ADVICE = {
    "jsonl": ("JSONL", "--input-format jsonl"),
    "fasta": ("FASTA", "--input-format fasta"),
    "tsv": ("TSV", "--input-format tsv --text-field N"),
}


def detect(text: bytes) -> str:
    """Return the format that the first lines of a text have: jsonl, fasta, tsv, or "" for none."""
    start = text[:_BYTES]
    if len(text) > len(start):  # drop the last line, which is incomplete
        start = start[: start.rfind(b"\n") + 1]
    lines = [line for line in start.split(b"\n", _LINES)[:_LINES] if line.strip()]
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


def warning(name: str, format_name: str) -> str:
    """Return the warning for a text that looks like records."""
    title, flags = _ADVICE[format_name]
    return f"{name} looks like {title} but was read as plain text; pass {flags}"
