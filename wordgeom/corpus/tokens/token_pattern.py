"""Tokens as the matches of a regular expression, as in scikit-learn's `token_pattern`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import category, normalize

from wordgeom.core.errors import OptionError

_FLAG = "--token-pattern"
# Texts in which a pattern that can match nothing does so.
_PROBES = ("", "a", "a b", "Aa1_ -'\n.", "é 한")
_WHITE = re.compile(r"[\s\0]")
_OTHER_WHITE = re.compile(r"[^\S \n]|\0")
_BYTES = 1 << 18  # bytes of text in which cut words are looked for
_FEWEST_CUTS = 3
_JOINERS = "\u200c\u200d"


def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern for tokens, compiled; raises OptionError for one that cannot be used."""
    try:
        found = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        do = f"correct it: {error}"
        raise OptionError(f"{_FLAG} is not a regular expression: {pattern}", do=do) from None
    if found.groups > 1:
        do = "write (?:…) for all but the one that is the token"
        what = f"{_FLAG} has {found.groups} groups: {pattern}"
        raise OptionError(what, do=do)
    if any(not match[0] for probe in _PROBES for match in found.finditer(probe)):
        do = "write + in place of *, as in \\w+"
        raise OptionError(f"{_FLAG} matches the empty text: {pattern}", do=do)
    return found


def matches(pattern: re.Pattern[str], text: str) -> str:
    """Return the matches in each line, separated by spaces; white space in a match becomes _."""
    odd = _OTHER_WHITE.search(text) is not None
    return "\n".join(_of_line(pattern, line, odd) for line in text.split("\n"))


def _of_line(pattern: re.Pattern[str], line: str, odd: bool) -> str:
    tokens = pattern.findall(line)
    joined = " ".join(tokens)
    if odd or joined.count(" ") >= len(tokens) or "" in tokens:
        return " ".join(_WHITE.sub("_", token) for token in tokens if token)
    return joined


def cut_words(pattern: str, text: bytes) -> dict[str, str]:
    r"""Return `word` and `marks` if matches in the start of a text end at marks within words.

    word: an example; marks: the marks and joiners, as in a class of a regular expression. Unlike
    the tokeniser `words`, `\w` matches neither vowel signs nor joiners.
    """
    start = normalize("NFC", text[:_BYTES].decode("utf-8", "replace"))
    places = [] if start.isascii() else list(_cuts(re.compile(pattern), start))
    if len(places) < _FEWEST_CUTS:
        return {}
    rows: dict[int, list[int]] = {}  # marks by blocks of 128 characters, roughly scripts
    for sign in sorted({ord(start[at]) for at in places}):
        rows.setdefault(sign >> 7, []).append(sign)
    marks = "".join(_span(row[0], row[-1]) for row in rows.values())
    word = re.findall(r"\S*\Z", start[: places[0]])[0] + re.findall(r"\S*", start[places[0] :])[0]
    return {"word": word, "marks": marks}


def _cuts(pattern: re.Pattern[str], text: str) -> Iterator[int]:
    """Yield the places of the marks and joiners behind the matches that end within a word."""
    for match in pattern.finditer(text):
        at = match.end()
        if match[0][-1].isalnum() or _is_mark(text, at - 1):
            while _is_mark(text, at):
                yield at
                at += 1


def _is_mark(text: str, at: int) -> bool:
    """Return whether text[at] is a mark, or a joiner before a letter."""
    char, after = text[at : at + 1], text[at + 1 : at + 2]
    return char != "" and (category(char) in ("Mn", "Mc") or (char in _JOINERS and after.isalnum()))


def _span(first: int, last: int) -> str:
    return f"\\u{first:04x}" if first == last else f"\\u{first:04x}-\\u{last:04x}"
