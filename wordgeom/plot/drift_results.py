"""What `wordgeom drift --json` printed, as arrays: the words that have a p, and how it was found.

The file may come from anywhere: nothing in it is believed before it is looked at.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.core.errors import FormatError, InputError, MissingInputError
from wordgeom.core.types import Float64

_DO = "name what wordgeom drift MODEL --json printed, or a model's folder"
_AGAIN = "print it again with wordgeom drift MODEL --json"
_LONGEST = 40  # characters of a word that are shown
_SENTENCE = 400  # characters of a sentence that are shown
_MOST = 1e100  # no displacement is longer; larger numbers overflow where they are drawn
_BELOW = 1 / 1.5  # of the smallest p that is told: pools of words differ a little in theirs
_FIELDS = {"displacement": _MOST, "p": 1.0, "q": 1.0}  # the most that each may be


@dataclass(frozen=True, eq=False)
class DriftResults:
    """The w words that have a displacement, a p and a q.

    displacement, p, q (w) float64; without: how many words lack one of them; smallest: the
    smallest p that the test can give a word, 0 where it has no such bound; of: how many words the
    model has, 0 where that is not told; method, null, assumption: how the test was made, what a
    word is held against, and what is taken for granted, as it says itself.
    """

    words: list[str]
    displacement: Float64
    p: Float64
    q: Float64
    without: int = 0
    smallest: float = 0.0
    of: int = 0
    method: str = ""
    null: str = ""
    assumption: str = ""


def read_drift_results(path: str | Path) -> DriftResults:
    """Read the JSON of `wordgeom drift`.

    Raises MissingInputError, FormatError for a file that is none or holds what cannot be true, and
    InputError where no word has a p.
    """
    path = Path(path)
    held = _parsed(path)
    listed, test = held.get("words"), held.get("test", {})
    if not isinstance(listed, list) or not isinstance(test, dict):
        raise FormatError("holds no words and their test", where=path, do=_DO)
    rows = [_row(path, number, entry) for number, entry in enumerate(listed, 1)]
    whole = [(word, numbers) for word, numbers in rows if None not in numbers]
    if not whole:
        do = "the test of the factors has none: run wordgeom drift with another"
        raise InputError("no word has a displacement, a p and a q", where=path, do=do)
    figures = np.array([numbers for _, numbers in whole], np.float64)
    displacement, p, q = figures.T
    told = [_sentence(test.get(name)) for name in ("method", "words_null", "assumption")]
    smallest = _smallest(path, test, p)
    return DriftResults(
        [word for word, _ in whole], displacement, p, q, len(rows) - len(whole), smallest,
        _of(held.get("model")), *told,
    )  # fmt: skip


def _parsed(path: Path) -> dict[str, Any]:
    try:
        held = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise MissingInputError("no such file or folder", where=path, do=_DO) from None
    except OSError as error:
        raise FormatError("cannot be read", where=path, found=error.strerror) from None
    except (ValueError, RecursionError):
        raise FormatError("is not JSON", where=path, do=_DO) from None
    if not isinstance(held, dict):
        raise FormatError("holds no words and their test", where=path, do=_DO)
    return held


def _row(path: Path, number: int, entry: Any) -> tuple[str, list[float | None]]:
    """Return a word and its displacement, p and q, None where it has none."""
    if not isinstance(entry, dict) or not isinstance(entry.get("word"), str):
        what = f"entry {number:,} of its words has no word"
        raise FormatError(what, where=path, do=_AGAIN)
    word = _shown(entry["word"], _LONGEST)
    named = f"of {word!r} (word {number:,})"
    return word, [_number(path, f"the {key} {named}", entry.get(key), most)
                  for key, most in _FIELDS.items()]  # fmt: skip


def _number(path: Path, what: str, value: Any, most: float) -> float | None:
    """Return a number in [0, most], None for none; raises FormatError for anything else."""
    if value is None:
        return None
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    if not plain or not 0 <= value <= most:  # also refuses nan
        range_ = f"a number between 0 and {most:g}"
        found = _shown(repr(value), _LONGEST) if plain else type(value).__name__
        raise FormatError(f"{what} is not {range_}", where=path, found=found, do=_AGAIN)
    return float(value)


def _smallest(path: Path, test: dict[str, Any], p: Float64) -> float:
    """Return the smallest p that a word can have: pooled ones are below that of all words."""
    key = "smallest_word_p" if "smallest_word_p" in test else "smallest_p"
    smallest = _number(path, f"the test's {key}", test.get(key), 1.0) or 0.0
    if p.min() < smallest * _BELOW:
        what = f"a p is smaller than the smallest that its test can give, {smallest:g}"
        raise FormatError(what, where=path, found=f"{p.min():g}", do=_AGAIN)
    return smallest


def _of(model: Any) -> int:
    """Return how many words a model has, 0 where it is not told."""
    words = model.get("words") if isinstance(model, dict) else None
    return words if isinstance(words, int) and 0 < words <= _MOST else 0


def _sentence(value: Any) -> str:
    return _shown(value, _SENTENCE) if isinstance(value, str) else ""


def _shown(text: str, most: int) -> str:
    """Return a text as it can be written into a picture and on a line."""
    plain = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return plain if len(plain) <= most else plain[: most - 1] + "…"
