"""Tokens as the matches of a regular expression, as in scikit-learn's `token_pattern`."""

from __future__ import annotations

import re

from wordgeom.core.errors import OptionError

_FLAG = "--token-pattern"
# Texts in which a pattern that can match nothing does so.
_PROBES = ("", "a", "a b", "Aa1_ -'\n.", "é 한")
_WHITE = re.compile(r"[\s\0]")
_OTHER_WHITE = re.compile(r"[^\S \n]|\0")


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
