"""Pseudo-words whose change is known: tokens of real words, renamed at rates that depend on time.

Time t runs from 0 to 1. A mixture takes the share π(t) of its tokens from a donor and the rest from
a recipient; s is its size, the share at the end (dying: at the start):

step      π = 0 before a time in the middle third, then s
linear    π = s t
growing   the recipient's uses stay, the donor's are added: 1 − s and s t
dying     growing with time reversed
constant  π = s: a control
frequency one word, no donor; a share of its tokens that grows or falls by the factor s

In bins of 5 years, a mixture has as many uses as the rarer of its two words, so that π is right
where their frequencies differ. Other tokens stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from planted_text import Speeches

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Float64, Int64

STEP, LINEAR, GROWING, DYING = "step", "linear", "growing", "dying"
CONSTANT, FREQUENCY = "constant", "frequency"
UNTOUCHED, REMAINDER = "untouched", "remainder"  # real words; what is left of renamed ones
PLANTED = (STEP, LINEAR, GROWING, DYING)
SHARES, FACTORS = (0.1, 0.25, 0.5, 1.0), (2.0, 4.0, 8.0)
RANGE = 200, 2000  # speeches that contain a donor, a recipient or a word renamed
_FEWEST, _PARTS = 0.05, 5  # share of a word's tokens in each fifth of the years
_BIN = 5  # years
_CONSTANT, _FREQUENCY = 2, 2  # times as many words a cell as of planted ones


@dataclass(frozen=True)
class Pseudo:
    """A pseudo-word; donor, recipient: rows of real words, donor −1 without one.

    start: time of a step; falls: whether its frequency falls.
    """

    name: str
    kind: str
    size: float
    recipient: int
    donor: int = -1
    start: float = 0.5
    falls: bool = False

    def share(self, t: Float64) -> Float64:
        """Return the donor's share of the tokens at times t."""
        if self.kind == STEP:
            return np.where(t >= self.start, self.size, 0.0)
        if self.kind == LINEAR:
            return self.size * t
        if self.kind in (GROWING, DYING):
            added = self.size * (1.0 - t if self.kind == DYING else t)
            return np.asarray(added / (1.0 - self.size + added))
        return np.full(len(t), self.size if self.kind == CONSTANT else 0.0)

    def uses(self, t: Float64) -> Float64:
        """Return the frequency at times t, in units of the largest."""
        if self.kind in (GROWING, DYING):
            return 1.0 - self.size + self.size * (1.0 - t if self.kind == DYING else t)
        if self.kind == FREQUENCY:
            return np.asarray(self.size ** (-t if self.falls else t - 1.0))
        return np.ones(len(t))


def draw(speeches: Speeches, number: int, rng: np.random.Generator) -> list[Pseudo]:
    """Return `number` planted words of every kind and size, and more controls.

    Raises InputError for too little text.
    """
    cells = list(_cells(number))
    single = sum(kind == FREQUENCY for kind, _ in cells)
    needed = 2 * len(cells) - single
    rows = rng.permutation(candidates(speeches))
    if len(rows) < needed:
        what = f"{needed:,} words in {RANGE[0]:,} to {RANGE[1]:,} speeches are needed"
        raise InputError(what, found=f"{len(rows):,}", do="lower --words or use more speeches")
    counts = np.bincount(speeches.tokens, minlength=len(speeches.words))
    rest = rows[single:needed]
    pairs = rng.permutation(rest[np.argsort(counts[rest], kind="stable")].reshape(-1, 2))
    singles, matched = iter(rows[:single].tolist()), iter(rng.permuted(pairs, axis=1).tolist())
    made = []
    for k, (kind, size) in enumerate(cells):
        recipient, donor = (next(singles), -1) if kind == FREQUENCY else next(matched)
        start, falls = float(rng.uniform(1 / 3, 2 / 3)), k % 2 == 1
        made.append(Pseudo(f"planted_{k}", kind, size, recipient, donor, start, falls))
    return made


def _cells(number: int) -> Iterator[tuple[str, float]]:
    """Yield the kind and size of each pseudo-word."""
    for kind in PLANTED:
        for size in SHARES:
            if size < 1.0 or kind in (STEP, LINEAR):  # a new word does not change
                yield from [(kind, size)] * number
    for size in SHARES[:3]:
        yield from [(CONSTANT, size)] * (_CONSTANT * number)
    for size in FACTORS:
        yield from [(FREQUENCY, size)] * (_FREQUENCY * number)


def candidates(speeches: Speeches) -> Int64:
    """Return the words that are neither rare nor frequent, and used in each fifth of the time."""
    found = speeches.document_frequencies()
    fifth = np.minimum((speeches.times * _PARTS).astype(np.int64), _PARTS - 1)[speeches.of]
    uses = np.stack([
        np.bincount(speeches.tokens[fifth == k], minlength=len(found)) for k in range(_PARTS)
    ])  # fmt: skip
    lasting = uses.min(axis=0) >= _FEWEST * uses.sum(axis=0)
    return np.flatnonzero((found >= RANGE[0]) & (found <= RANGE[1]) & lasting)


def plant(speeches: Speeches, pseudo: list[Pseudo], rng: np.random.Generator) -> Speeches:
    """Return the speeches with tokens renamed; pseudo-word k is the word len(words) + k."""
    V = len(speeches.words)
    chosen = np.zeros(V, bool)
    chosen[[row for word in pseudo for row in (word.recipient, word.donor) if row >= 0]] = True
    places = np.flatnonzero(chosen[speeches.tokens])
    places = places[np.argsort(speeches.tokens[places], kind="stable")]
    bounds = np.searchsorted(speeches.tokens[places], np.arange(V + 1))
    bins = (speeches.years - speeches.years.min()) // _BIN
    tokens, times = speeches.tokens.copy(), speeches.times
    for k, word in enumerate(pseudo):
        tokens_of = [
            places[bounds[row] : bounds[row + 1]]
            for row in (word.recipient, word.donor)
            if row >= 0
        ]
        rows = [speeches.of[at] for at in tokens_of]
        uses = [np.bincount(bins[of], minlength=bins.max() + 1) for of in rows]
        fewest = np.min(uses, axis=0)
        for number, (at, of) in enumerate(zip(tokens_of, rows, strict=True)):
            share = word.share(times[of])
            rate = word.uses(times[of]) * (share if number else 1.0 - share)
            rate *= fewest[bins[of]] / uses[number][bins[of]]
            tokens[at[rng.random(len(at)) < rate]] = V + k
    return replace(speeches, tokens=tokens, words=[*speeches.words, *(w.name for w in pseudo)])


def matched(wanted: Int64, frequencies: Int64, allowed: Array, each: int) -> Int64:
    """Return words (`each` × w) of the mask `allowed` with the frequencies of `wanted` (w)."""
    free = np.flatnonzero(allowed)
    free = free[np.argsort(frequencies[free], kind="stable")]
    taken = np.zeros(len(free), bool)
    for row in np.repeat(wanted, each).tolist():
        if not taken.all():
            gaps = np.where(taken, np.inf, np.abs(frequencies[free] - frequencies[row]))
            taken[int(np.argmin(gaps))] = True
    return np.sort(free[taken])
