"""The output of `wordgeom drift --json` as arrays: words with a p, and how it was computed.

The file may come from anywhere, so every value is checked before use.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.core.errors import FormatError, InputError
from wordgeom.core.types import Float64
from wordgeom.plot.labels import LONGEST, printable
from wordgeom.storage.opening import reading

_DO = "name the output of wordgeom drift MODEL --json, or a model directory"
_AGAIN = "write it again with wordgeom drift MODEL --json"
_NOT_RESULTS = "not the results of a drift test"
_SENTENCE = 400  # characters of a sentence in a plot
_MOST = 1e100  # largest displacement; larger numbers overflow in matplotlib
_BELOW = 1 / 1.5  # tolerance on the smallest p, which differs slightly between pools of words
_FIELDS = {"displacement": _MOST, "p": 1.0, "q": 1.0}  # the largest valid value of each


@dataclass(frozen=True, eq=False)
class DriftResults:
    """The w words with a displacement, a p and a q.

    displacement, p, q (w) float64; without_p: number of words that lack one of them; smallest_p:
    lower bound of the test's p, 0 if there is none; model_words: number of words in the model, 0
    if unknown; method, null, assumption: the test, its null distribution and its assumption, as
    sentences from the file.
    """

    words: list[str]
    displacement: Float64
    p: Float64
    q: Float64
    without_p: int = 0
    smallest_p: float = 0.0
    model_words: int = 0
    method: str = ""
    null: str = ""
    assumption: str = ""


def read_drift_results(path: str | Path) -> DriftResults:
    """Read the JSON output of `wordgeom drift`.

    Raises MissingInputError; FormatError for another file or invalid values; InputError if no word
    has a p.
    """
    path = Path(path)
    content = _parsed(path)
    listed, test = content.get("words"), content.get("test", {})
    if not isinstance(listed, list) or not isinstance(test, dict):
        raise FormatError(_NOT_RESULTS, where=path, do=_DO)
    rows = [_row(path, number, entry) for number, entry in enumerate(listed, 1)]
    complete = [(word, numbers) for word, numbers in rows if None not in numbers]
    if not complete:
        do = "run wordgeom drift with another test; the factor test gives no p for words"
        raise InputError("no word has a displacement, a p and a q", where=path, do=do)
    displacement, p, q = np.array([numbers for _, numbers in complete], np.float64).T
    sentences = [_sentence(test.get(name)) for name in ("method", "words_null", "assumption")]
    return DriftResults(
        [word for word, _ in complete], displacement, p, q, len(rows) - len(complete),
        _smallest_p(path, test, p), _model_words(content.get("model")), *sentences,
    )  # fmt: skip


def _parsed(path: Path) -> dict[str, Any]:
    try:
        with reading(path, "the output of wordgeom drift --json", _DO):
            content = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise FormatError("not JSON", where=path, do=_DO) from None
    if not isinstance(content, dict):
        raise FormatError(_NOT_RESULTS, where=path, do=_DO)
    return content


def _row(path: Path, number: int, entry: Any) -> tuple[str, list[float | None]]:
    """Return a word and its displacement, p and q, None for a missing one."""
    if not isinstance(entry, dict) or not isinstance(entry.get("word"), str):
        raise FormatError(f"entry {number:,} has no word", where=path, do=_AGAIN)
    word = printable(entry["word"], LONGEST)
    named = f"of {word!r} (word {number:,})"
    return word, [_number(path, f"the {key} {named}", entry.get(key), most)
                  for key, most in _FIELDS.items()]  # fmt: skip


def _number(path: Path, what: str, value: Any, most: float) -> float | None:
    """Return a number in [0, most] or None; raises FormatError for any other value."""
    if value is None:
        return None
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if not plain or not 0 <= value <= most:  # also rejects nan
        what = f"{what} must be a number between 0 and {most:g}"
        found = printable(repr(value), LONGEST) if plain else type(value).__name__
        raise FormatError(what, where=path, found=found, do=_AGAIN)
    return float(value)


def _smallest_p(path: Path, test: dict[str, Any], p: Float64) -> float:
    """Return the smallest possible p of a word; a pooled p can be below the global one."""
    key = "smallest_word_p" if "smallest_word_p" in test else "smallest_p"
    smallest = _number(path, f"the test's {key}", test.get(key), 1.0) or 0.0
    if p.min() < smallest * _BELOW:
        what = f"a p is smaller than the smallest possible p, {smallest:g}"
        raise FormatError(what, where=path, found=f"{p.min():g}", do=_AGAIN)
    return smallest


def _model_words(model: Any) -> int:
    """Return the number of words in a model, 0 if unknown."""
    words = model.get("words") if isinstance(model, dict) else None
    return words if isinstance(words, int) and 0 < words <= _MOST else 0


def _sentence(value: Any) -> str:
    return printable(value, _SENTENCE) if isinstance(value, str) else ""
