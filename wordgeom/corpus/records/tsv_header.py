"""Is the first row of a table with numbered columns a header, or a record?

It is a header if its cells in the requested columns look like names, and either one of them is a
usual name of its column, or some column besides the text has numbers or dates in all other rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

SAMPLE = 50  # rows below the first that are compared with it
HEADER, RECORD, UNSURE = "header", "record", "unsure"

_NAME = re.compile(r"[^\W\d][\w .:/()#-]{0,39}")
_WORDS = 4  # of a name
_MISSING = frozenset(("na", "n/a", "n.a.", "nan", "none", "null", "unknown", "missing", "undated"))
_NUMBER = re.compile(r"[\s\"'$€£+-]*\.?\d")
_LONG, _SHORT = 5, 3  # words of a usual text, and of a record that may be a header
_TEXTS = """
text texts txt sentence sentences review reviews content contents body document documents doc
comment comments message messages tweet tweets speech speeches abstract abstracts description
descriptions utterance article articles post posts lyrics transcript paragraph passage review_body
review_text reviewtext full_text fulltext clean_text tweet_text comment_text raw_text
"""
_IDS = "id ids _id doc_id docid text_id review_id tweet_id document_id uid"
_TIMES = "time times year years date dates datetime timestamp created_at month day decade"
_USUAL = {
    role: frozenset(names.split())
    for role, names in (("text", _TEXTS), ("id", _IDS), ("time", _TIMES))
}


def first_row(first: Sequence[str], rows: Sequence[Sequence[str]], columns: dict[str, int]) -> str:
    """Return HEADER, RECORD, or UNSURE for a record that may be a header.

    rows: the next rows, up to SAMPLE; columns: the requested columns, from 0, by text, id and time.
    """
    asked = {role: first[column] for role, column in columns.items()}
    alone = not rows and len(first) == 1
    if alone or not _are_names(list(asked.values())):
        return RECORD
    if any(cell.strip().strip('"').casefold() in _USUAL[role] for role, cell in asked.items()):
        return HEADER
    if not rows:
        return RECORD
    others = [k for k in range(len(first)) if k != columns["text"]]
    if any(_above_numbers(first[k], [row[k] for row in rows if k < len(row)]) for k in others):
        return HEADER
    texts = [row[columns["text"]] for row in rows if columns["text"] < len(row)]
    return UNSURE if _are_names(first) and _are_longer(texts, asked["text"]) else RECORD


def _are_names(cells: Sequence[str]) -> bool:
    """Return whether all cells look like names of columns, each another."""
    names = [cell.strip().strip('"').casefold() for cell in cells]
    alike = all(
        _NAME.fullmatch(name) and len(name.split()) <= _WORDS and name not in _MISSING
        for name in names
    )
    return alike and len(set(names)) == len(names)


def _above_numbers(first: str, below: Sequence[str]) -> bool:
    filled = [cell for cell in below if cell.strip()]
    numbers = len(filled) > 1 and all(map(_NUMBER.match, filled))
    return numbers and _are_names([first]) and not any(map(str.isdigit, first))


def _are_longer(texts: Sequence[str], first: str) -> bool:
    lengths = sorted(len(text.split()) for text in texts)
    return len(first.split()) < _SHORT and lengths[len(lengths) // 2] >= _LONG
