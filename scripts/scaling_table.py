"""Print the tables of docs/scaling.md, from rates that scripts/scaling_rates.py measured.

    python scripts/scaling_table.py RATES

Costs are closed forms: pairs by a power of the tokens, time in proportion to tokens, entries and
products. One core is assumed at the measured speed, and W workers of one core each.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordgeom.core.formatting import markdown_table, readable_size
from wordgeom.counts.windows import WindowOptions
from wordgeom.matrices.cooccurrence import INDEX_BYTES
from wordgeom.stages.count_matrix import count_type
from wordgeom.stages.counting_space import expected_most, expected_pairs

_TEXT = 5.9  # bytes of a token of English text with its space
_ID, _NUMBER = 4, 4  # bytes of an id and of a float32
_WINDOW, _DIM, _BASIS = 5, 100, 250  # window; dimension; columns of the eigensolver's basis
_HALVES = 6  # half sweeps of gbu
_SWEEPS, _DEGREE = 10, 2  # sweeps and degree of dlsa
_FLIPS, _CELLS, _TOPICS = 999, 395, 50  # of drift: five cells for each of 79 years
_SCORES = 62  # operations for each cell and pair of topics: ten steps of a fit, and the scores
_MESSAGE = 1000  # bytes of a task and its digest
_RATES = {
    "read": "tokens read, tokenised and mapped to ids", "count": "tokens counted, window 5",
    "merge": "entries of shards merged", "weight": "entries weighted by `build-pmi`",
    "product": "entries in a product of `pmi-eigs`",
    "half_sweep": "entries in a half sweep of `gbu --loss squared`, K = 100",
    "solved": "entries solved by `dc`, K = 100",
    "svd": "entries in a product of `lsa`", "dated": "entries in a half sweep of `dlsa`, K = 100",
    "changed": "words tested by `drift`, 999 flips, 79 years, 50 topics",
    "pair": "pairs of entities in `impute`",
}  # fmt: skip
_TOKENS = [10**k for k in range(8, 13)]
_ENTRIES = [10**k for k in range(7, 11)]
_WORDS = [10**5, 10**6, 10**7]
_TESTED = [10**3, 10**4, 10**5, 10**6]
_WORKERS = [1, 10, 100, 1000]


@dataclass(frozen=True)
class Model:
    """Costs of a text of `tokens` with `words`; seconds: of one core per unit of work."""

    seconds: dict[str, float]
    tokens: int
    words: int

    def pairs(self, shards: int = 1) -> int:
        """Return the stored pairs of one of several shards."""
        return min(expected_pairs(self.tokens // shards, _WINDOW), self.words**2 // 2)

    def entry_bytes(self) -> int:
        """Return the bytes of a count with its column: those of a large text have 64 bits."""
        window = WindowOptions(window=_WINDOW)
        return INDEX_BYTES + count_type(expected_most(self.tokens), window).itemsize

    def sizes(self) -> dict[str, float]:
        """Return the bytes of each file, and of the arrays in memory that words decide."""
        return {
            "text": _TEXT * self.tokens, "ids, twice": 2 * _ID * self.tokens,
            "counts": self.entry_bytes() * self.pairs(), "vectors": _NUMBER * self.words * _DIM,
            "basis in memory": _NUMBER * self.words * _BASIS,
        }  # fmt: skip

    def core_seconds(self) -> dict[str, float]:
        """Return the seconds of one core in each stage."""
        s, pairs = self.seconds, self.pairs()
        return {
            "read": s["read"] * self.tokens, "count": s["count"] * self.tokens,
            "weight": s["weight"] * pairs,
            "pmi-eigs": s["product"] * s["products"] * 2 * pairs,
            "gbu": s["half_sweep"] * _HALVES * 2 * pairs, "dc": s["solved"] * 2 * pairs,
        }  # fmt: skip

    def operations(self) -> dict[str, float]:
        """Return the additions and multiplications in each stage; read: bytes inspected."""
        pairs = self.pairs()
        return {
            "read": _TEXT * self.tokens, "count": 2 * _WINDOW * self.tokens, "weight": 4 * pairs,
            "pmi-eigs": 2 * 2 * pairs * self.seconds["products"],
            "gbu": _HALVES * 2 * pairs * _DIM * (_DIM + 1), "dc": 2 * 2 * pairs * _DIM,
        }  # fmt: skip

    def elapsed(self, workers: int) -> dict[str, float]:
        """Return the seconds of each stage with so many workers, where the text is read once."""
        core = self.core_seconds()
        shared = {name: core[name] / workers for name in ("weight", "pmi-eigs", "gbu", "dc")}
        counting = (core["read"] + core["count"]) / workers
        merged = workers * self.pairs(workers) * self.seconds["merge"] if workers > 1 else 0.0
        return {"count": counting, "merge": merged, **shared}

    def messages(self, workers: int) -> dict[str, float]:
        """Return the bytes that pass the scheduler: digests, and the factors of each sweep."""
        if workers == 1:
            return dict.fromkeys(("count", "merge", "pmi-eigs", "gbu"), 0.0)
        factors = _NUMBER * self.words * _DIM
        return {"count": _MESSAGE * workers, "merge": _MESSAGE * workers,
                "pmi-eigs": self.seconds["products"] * workers * _NUMBER * self.words * 2,
                "gbu": _HALVES * workers * factors}  # fmt: skip


def rates(made: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the table of rates."""
    yield f"**Rates of one core**: {made['machine']}; {made['date']}:\n"
    found = {_RATES[name]: 1 / made["seconds"][name] for name in _RATES}
    yield from markdown_table([["work", "in a second"], *(
        [what, _rate(rate)] for what, rate in found.items()
    )])  # fmt: skip


def _rate(rate: float) -> str:
    if rate < 1e5:
        return f"{rate:,.0f}"
    return f"{rate / 1e6:,.0f} M" if rate >= 1e7 else f"{rate / 1e6:.1f} M"


def tables(seconds: dict[str, float]) -> Iterator[str]:
    """Yield the lines of the tables of costs."""
    first = Model(seconds, 1, 1)
    yield "**Sizes**, with a vocabulary of V words:\n"
    head = ["tokens", "V", *first.sizes()]
    yield from markdown_table([head, *(_sizes(Model(seconds, t, v))
                                       for t in _TOKENS for v in _WORDS)])  # fmt: skip
    yield "\n**Operations, and time of one core**, with 10⁶ words:\n"
    names = list(first.core_seconds())
    models = [Model(seconds, tokens, 10**6) for tokens in _TOKENS]
    rows = [[_power(m.tokens), *(_work(m, name) for name in names)] for m in models]
    yield from markdown_table([["tokens", *names], *rows])
    yield "\n**Document-term matrices**, with the entries of all documents:\n"
    yield from markdown_table([["entries", "lsa", "dlsa"], *(
        [_power(entries), *_documents(seconds, entries)] for entries in _ENTRIES
    )])  # fmt: skip
    yield "\n**Tests of change**, with the words that are tested:\n"
    yield from markdown_table([["words", "drift"], *(
        [_power(words), _tested(seconds, words)] for words in _TESTED
    )])  # fmt: skip
    yield "\n**Time with W workers**, and the bytes that pass a scheduler, with 10⁶ words:\n"
    head = ["tokens", "W", *first.elapsed(2), "messages of gbu"]
    rows = [_hours(m, w) for m in models[2::2] for w in _WORKERS]
    yield from markdown_table([head, *rows])


def _sizes(model: Model) -> list[str]:
    return [_power(model.tokens), _power(model.words),
            *(readable_size(round(size), 2) for size in model.sizes().values())]  # fmt: skip


def _work(model: Model, name: str) -> str:
    return f"{model.operations()[name]:.0e}, {_time(model.core_seconds()[name])}"


def _documents(seconds: dict[str, float], entries: int) -> Iterator[str]:
    """Yield the operations and the time of one core of each method of documents."""
    halves, products = 2 * _SWEEPS, seconds["svd_products"]
    for operations, rate, times in (
        (2, seconds["svd"], products),
        (2 * _DIM * (_DEGREE + 1), seconds["dated"], halves),
    ):
        yield f"{operations * times * entries:.0e}, {_time(rate * times * entries)}"


def _tested(seconds: dict[str, float], words: int) -> str:
    """Return the operations and the time of one core of a test of so many words."""
    scores = _SCORES * _CELLS * _TOPICS**2
    flips = 2 * _FLIPS * _CELLS * _DEGREE * _TOPICS
    return f"{words * (scores + flips):.0e}, {_time(seconds['changed'] * words)}"


def _hours(model: Model, workers: int) -> list[str]:
    took = [_time(value) for value in model.elapsed(workers).values()]
    sent = readable_size(round(model.messages(workers)["gbu"]), 2)
    return [_power(model.tokens), f"{workers:,}", *took, sent]


def _time(seconds: float) -> str:
    """Return a time with two digits in its largest unit."""
    unit, size = next((u for u in (("h", 3600), ("min", 60)) if seconds >= u[1]), ("s", 1))
    found = seconds / size
    return f"{found:,.0f} {unit}" if found >= 10 else f"{found:.2g} {unit}"


def _power(number: int) -> str:
    digits = str(len(str(number)) - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{digits}"


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    print("\n".join([*rates(given), "", *tables(given["seconds"])]))
