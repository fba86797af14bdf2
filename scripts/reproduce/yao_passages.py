"""Passages around the names of firms, cut from a text: a replacement for the headlines of §5.2.

A passage is 20 to 30 consecutive words of a line, with the name at a random position. Passages do
not overlap, so that no part of a test passage is in the training set. The number of passages per
name is limited.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from wordgeom.core.types import Array, Int64

UNKNOWN, END = "<unk>", "<eos>"
SHORTEST, LONGEST = 20, 30  # words
RAREST = 3  # rarer words in the training set are unknown, as in the paper
_SPAN = 16 * LONGEST  # characters read on each side of a name
_SHARES = (0.7, 0.85)  # start of the validation and of the test set

Passage = list[str]


def cut(text: str, names: Iterable[str], most: int, rng: np.random.Generator) -> list[Passage]:
    """Return passages in order of the text, at most `most` random ones of each name."""
    found: dict[str, list[tuple[int, Passage]]] = defaultdict(list)
    for name, start, passage in _passages(text, sorted(names), rng):
        found[name].append((start, passage))
    kept: list[tuple[int, Passage]] = []
    for name in sorted(found):
        sample = rng.permutation(len(found[name]))[:most]
        kept += [found[name][k] for k in sample]
    return [passage for _, passage in sorted(kept, key=lambda pair: pair[0])]


def _passages(
    text: str, names: Sequence[str], rng: np.random.Generator
) -> Iterator[tuple[str, int, Passage]]:
    """Yield a name, its offset and a passage for each occurrence outside earlier passages."""
    if not names:
        return
    pattern = re.compile(r"(?<!\S)(?:" + "|".join(map(re.escape, names)) + r")(?!\S)")
    free = 0  # end of the last passage
    for match in pattern.finditer(text):
        if match.start() < free:
            continue
        length = int(rng.integers(SHORTEST, LONGEST + 1))
        before = int(rng.integers(length))
        left = _words_before(text, max(free, match.start() - _SPAN), match.start())
        right, end = _words_after(text, match.end(), length - before - 1)
        free = end
        yield match.group(), match.start(), [*left[len(left) - before :], match.group(), *right]


def _words_before(text: str, low: int, high: int) -> Passage:
    """Return the words of text[low:high] after its last line end."""
    words = text[low:high].rpartition("\n")[2].split()
    # A word that begins before `low` is incomplete.
    return words[1:] if low and not text[low - 1].isspace() and words else words


def _words_after(text: str, low: int, count: int) -> tuple[Passage, int]:
    """Return up to `count` words of the same line, and the end of the last one."""
    line = text[low : low + _SPAN].partition("\n")[0]
    ends = [found.end() for found in re.finditer(r"\S+", line)][:count]
    end = ends[-1] if ends else 0
    return line[:end].split(), low + end


@dataclass(frozen=True, eq=False)
class Folds:
    """Training, validation and test passages as word ids.

    words: the vocabulary, UNKNOWN and END first, then by count; each passage (tokens) int64 ends
    with END.
    """

    words: list[str]
    train: list[Int64]
    valid: list[Int64]
    test: list[Int64]

    def numbers(self, words: Iterable[str]) -> Array:
        """Return which ids (V) belong to some words."""
        chosen = set(words)
        return np.array([word in chosen for word in self.words])


def fold(passages: Sequence[Passage], rng: np.random.Generator) -> Folds:
    """Split passages at random into 70, 15 and 15 %; ids come from the training set."""
    order = rng.permutation(len(passages))
    ends = [int(share * len(passages)) for share in _SHARES]
    parts = [[passages[k] for k in part] for part in np.split(order, ends)]
    counts = Counter(chain.from_iterable(parts[0]))
    frequent = [word for word, count in counts.items() if count >= RAREST]
    words = [UNKNOWN, END, *sorted(frequent, key=lambda word: (-counts[word], word))]
    index = {word: number for number, word in enumerate(words)}
    numbered = [[_numbers(passage, index) for passage in part] for part in parts]
    return Folds(words, *numbered)


def _numbers(passage: Passage, index: dict[str, int]) -> Int64:
    return np.array([*(index.get(word, 0) for word in passage), 1], np.int64)
