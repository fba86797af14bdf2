"""Warnings about inputs: skipped content, empty files, and text that is probably misread.

Text is probably misread if its first lines are hard-wrapped, ending in mid-sentence near a common
width, are records (JSONL, TSV, FASTA) that are read as plain text, or end in carriage returns
alone, as on old Macs.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice, pairwise

from wordgeom.core.formatting import several
from wordgeom.corpus.inputs.readers import Source

_SHOWN = 3
_LINES = 2_000  # lines checked
_BYTES = 1 << 20  # bytes checked
_OLD_MAC = "carriage returns"
UNSEGMENTED, _START = "unsegmented", 1 << 14  # bytes checked for it
# Runs of letters longer than most words, in scripts that put no spaces between words.
_RUNS = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]{5,}"  # kana and Han
    r"|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]{16,}"  # Thai, Lao, Burmese, Khmer
)
_RECORDS = {
    "jsonl": ("JSONL", "--input-format jsonl"),
    "fasta": ("FASTA", "--input-format fasta"),
    "tsv": ("TSV", "--input-format tsv --text-field N"),
}
_HEADERS = {
    "header": "is a header and was skipped; if it is a record, pass --header no",
    "unsure": "was read as a record; if it is a header, pass --header yes",
}
_FEWEST_MARKS = 3
_MARKUP_NAMES = {"tags": "tags or entities", "emphasis": "emphasis"}
_MARKUP = {
    "tags": re.compile(
        r"<doc id=|</?(?:a|b|br|div|em|h[1-6]|hr|i|img|li|ol|p|ref|span|strong|sub|sup|table|td"
        r"|tr|ul)\b(?: [\w-]+=[^<>\n]{1,80}| ?/)?>|</(?!s>)[a-z][\w:.-]{0,60}>"
        r"|&(?:amp|lt|gt|quot|nbsp|apos|#\d{2,6});",
        re.IGNORECASE,
    ),
    "emphasis": re.compile(r"_(?<![\w/.]_)(?=[^\W_])[^_\n/]{0,40}[^\W_][.,;:!?]?_(?![\w/])"),
}
_FEWEST = 20  # pairs of adjacent lines that a decision about hard wrapping needs
_NARROWEST, _WIDEST = 40, 200  # characters
_WORD = 15  # characters of the next word at most, for which a line lacked room
_SHARE = 0.4
_ENDS = (".", "!", "?", "…", "。", "\uff01", "\uff1f", "।")  # including full-width ! and ?
_CLOSING = "\"'”’»)]*_"


def records_format(text: bytes) -> str:
    """Return the format that the first lines of a text have: jsonl, fasta, tsv, or "" for none.

    `_OLD_MAC` for lines that end in carriage returns alone.
    """
    start = text[:_BYTES]
    if b"\n" not in text and start.count(b"\r") >= _FEWEST_MARKS:
        return _OLD_MAC
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


def is_unsegmented(text: bytes) -> bool:
    """Return whether the start of a text looks like one without spaces between words."""
    if text[:_START].isascii():  # most files of a directory: this is checked in each
        return False
    start = text[:_START].decode("utf-8", "replace")
    written = sum(len(part) for part in start.split())
    return 2 * sum(len(run) for run in _RUNS.findall(start)) > written


def markup_in(text: bytes) -> dict[str, str]:
    """Return an example of the tags or entities, and of the emphasis, in the start of a text."""
    found = {}
    start = text[:_BYTES].decode("utf-8", "replace")
    for kind, pattern in _MARKUP.items():
        examples = [match[0] for match in islice(pattern.finditer(start), _FEWEST_MARKS)]
        if len(examples) == _FEWEST_MARKS:
            found[kind] = min(examples, key=len)
    return found


def hard_wrapping(text: bytes) -> dict[str, float]:
    """Return `share` and `width` if the first lines of a text look hard-wrapped, else nothing.

    share: of the lines with another line below, the fraction that neither end a sentence nor have
    room for the next word; width: characters of a full line.
    """
    lines = [line.strip() for line in text[:_BYTES].decode("utf-8", "replace").split("\n")[:_LINES]]
    inner = [(line, below) for line, below in pairwise(lines) if line and below]
    if len(inner) < _FEWEST:
        return {}
    width = sorted(len(line) for line, _ in inner)[len(inner) * 19 // 20]
    if not _NARROWEST <= width <= _WIDEST:
        return {}
    share = sum(_continues(line, below, width) for line, below in inner) / len(inner)
    return {"share": round(share, 3), "width": width} if share >= _SHARE else {}


def input_warnings(sources: Sequence[Source], strip: str = "none") -> list[str]:
    """Return a line each for skipped content, empty files, and text that is probably misread.

    strip: the markup that was removed.
    """
    lines = []
    counts: Counter[str] = Counter()
    for source in sources:
        counts.update(source.counts)
    if counts:
        each = ", ".join(f"{what}: {number:,}" for what, number in sorted(counts.items()))
        lines.append(f"skipped: {each}")
    empty = [source.name for source in sources if source.empty]
    if empty and len(sources) > 1:
        more = ", …" if len(empty) > _SHOWN else ""
        lines.append(f"empty input: {', '.join(empty[:_SHOWN])}{more}")
    if misnamed := [source.name for source in sources if source.misnamed and not source.empty]:
        what = "is not compressed, in spite of its suffix, and was read as it is"
        lines.append(f"{misnamed[0]} {what}{_others(len(misnamed))}")
    lines += _header_notes(sources)
    lines += _markup_notes(sources, strip)
    lines += _cut_notes(sources)
    for format_name in sorted({source.looks for source in sources} - {""}):
        alike = [source.name for source in sources if source.looks == format_name]
        if format_name == _OLD_MAC:
            what = f"{alike[0]} has {_OLD_MAC} for line ends, and was read as one line"
            lines.append(f"{what}; replace them with line feeds{_others(len(alike))}")
            continue
        if format_name == UNSEGMENTED:
            what = f"{alike[0]} looks like text without spaces between words"
            do = "segment it first (docs/guide/tokenisers.md)"
            lines.append(f"{what}; {do}{_others(len(alike))}")
            continue
        title, flags = _RECORDS[format_name]
        what = f"{alike[0]} looks like {title} but was read as plain text; pass {flags}"
        lines.append(what + _others(len(alike)))
    if wrapped := [source for source in sources if source.wrapped]:
        found = wrapped[0].wrapped
        what = f"{found['share']:.0%} of its first lines end in mid-sentence"
        near = f"at about {found['width']:.0f} characters, but each line is a document"
        do = f"pass --document block{_others(len(wrapped))}"
        lines.append(f"{wrapped[0].name} looks hard-wrapped: {what} {near}; {do}")
    return lines


def _header_notes(sources: Sequence[Source]) -> list[str]:
    """Return a line for the headers that were skipped, and one for records that may be headers."""
    notes = []
    for found, what in _HEADERS.items():
        alike = [source for source in sources if source.header.get("found") == found]
        if alike:
            first = f"{alike[0].name}: its first row ({alike[0].header['cells']})"
            notes.append(f"{first} {what}{_others(len(alike))}")
    return notes


def _markup_notes(sources: Sequence[Source], strip: str) -> list[str]:
    """Return a line for the markup that was read as text."""
    removed = set(_MARKUP) if strip == "all" else {strip}
    alike = [source for source in sources if set(source.markup) - removed]
    if not alike:
        return []
    first = alike[0].markup
    found = sorted(set(first) - removed)
    what = " and ".join(f"{_MARKUP_NAMES[kind]} such as {first[kind]}" for kind in found)
    wanted = {kind for source in alike for kind in source.markup} | removed & set(_MARKUP)
    option = "all" if len(wanted) > 1 else wanted.pop()
    note = f"{alike[0].name} contains {what}, read as text; pass --strip {option} to remove them"
    return [note + _others(len(alike))]


def _cut_notes(sources: Sequence[Source]) -> list[str]:
    """Return a line for the words that --token-pattern cuts."""
    alike = [source for source in sources if source.cut]
    if not alike:
        return []
    word, marks = alike[0].cut["word"], alike[0].cut["marks"]
    what = f"{alike[0].name}: --token-pattern cuts words at their marks, such as {word}"
    do = f"\\w does not match marks, [\\w{marks}] matches those found"
    return [f"{what}; {do}{_others(len(alike))}"]


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _continues(line: str, below: str, width: int) -> bool:
    """Return whether a line ends for want of room rather than at the end of a sentence."""
    word = below[:_WORD].split(None, 1)[0]
    return len(line) + 1 + len(word) > width and not line.rstrip(_CLOSING).endswith(_ENDS)


def _others(files: int) -> str:
    return f" (also {several(files - 1, 'other file', 'other files')})" if files > 1 else ""
