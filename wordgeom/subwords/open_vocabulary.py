"""Vectors with an open vocabulary: words that have no vector get that of their n-grams."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import first_few, plural, several
from wordgeom.core.types import Float32
from wordgeom.subwords.buckets import Buckets
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.units.morphs import Morphs
from wordgeom.vectors.keyed import Vectors, spellings
from wordgeom.vectors.nearest import row_of


@dataclass(frozen=True, eq=False)
class OpenVocabulary:
    """Vectors, and the subword model that belongs to them, if there is one.

    lost: where the model of vectors was that were made with n-grams, and is no more.
    """

    vectors: Vectors
    model: SubwordModel | None = None
    lost: Path | None = None

    @property
    def lost_notes(self) -> list[str]:
        """A note on n-grams that are lost, none if there are none."""
        return missing_note(self.lost)

    def including(self, words: Iterable[str]) -> tuple[Vectors, list[str]]:
        """Return the vectors, followed by those of words that lack one, and these words.

        A word without a known n-gram stays without a vector, and so does one that has a vector in
        lower case: its n-grams would miss what that one knows.
        """
        base = self.vectors
        added, found = self.inferred(words)
        if not added:
            return base, []
        return Vectors([*base.words, *added], np.concatenate((base.matrix, found))), added

    def inferred(self, words: Iterable[str]) -> tuple[list[str], Float32]:
        """Return those words that lack a vector and have a known n-gram, with vectors (n × K)."""
        if self.model is None:
            return [], np.zeros((0, self.vectors.matrix.shape[1]), np.float32)
        lacking = [word for word in dict.fromkeys(words) if self._lacks(word)]
        lower = [word.lower() for word in lacking]
        cut = lower if lower != lacking and self._in_lower_case else lacking
        found = self.model.vectors_of(_spelt(cut, self.model))
        known = np.flatnonzero(found.any(axis=1))
        return [lacking[row] for row in known.tolist()], found[known]

    def of_query(self, words: Sequence[str]) -> tuple[Vectors, list[str]]:
        """Return what `including` returns; raises InputError for a word without a vector."""
        vectors, added = self.including(words)
        for word in words:
            try:
                row_of(vectors, word)
            except InputError as error:
                if self.lost is not None:
                    do = f"restore {self.lost}, the n-grams that these vectors were made with"
                    raise InputError(error.what, do=do) from None
                if self.model is None or not self._lacks(word):
                    raise
                what, do = f"{error.what}, and none of its n-grams is known", error.do
                if isinstance(self.model.unit, Morphs) and word not in self.model.unit.table:
                    what = f"{error.what}, and no line of --morphs cuts it"
                    do = "add a line, and apply wordgeom subwords again"
                raise InputError(what, do=do) from None
        return vectors, added

    @cached_property
    def _in_lower_case(self) -> bool:
        """Whether no word has a capital, so that words are cut in lower case; not for fastText."""
        hashed = self.model is not None and isinstance(self.model.index, Buckets)
        return not hashed and all(word == word.lower() for word in self.vectors.words)

    def _lacks(self, word: str) -> bool:
        forms = (word, word.lower())
        return word.split() == [word] and all(self.vectors.row(form) is None for form in forms)


def _spelt(words: list[str], model: SubwordModel) -> list[str]:
    """Return words in NFC, as text is counted, as they are, or in NFD.

    The first form counts of which the most n-grams are known. Otherwise a word whose letters were
    typed in parts would lose the n-grams of these letters.
    """
    made = list(words)
    several_forms = [row for row, word in enumerate(words) if len(set(spellings(word))) > 1]
    if several_forms:
        given, normal, apart = zip(*(spellings(words[row]) for row in several_forms), strict=True)
        composed = [form or word for form, word in zip(normal, given, strict=True)]  # "" of signs
        forms = (composed, given, apart)
        best = np.argmax([model.known_shares(form) for form in forms], axis=0)
        for k, row in enumerate(several_forms):
            made[row] = forms[best[k]][k]
    return made


def number_of(model: SubwordModel) -> str:
    """Return the number of a model's n-grams, or of its buckets, as text."""
    index, number = model.index, len(model.vectors)
    if isinstance(index, Buckets):
        return f"{number:,} of {index.number:,} buckets"
    return plural(number, "n-gram")


def missing_note(lost: Path | None) -> list[str]:
    """Return a note on n-grams that vectors were made with and that are missing, or none."""
    if lost is None:
        return []
    what = "these vectors were made with n-grams, which are missing"
    return [f"{lost}: {what}: words without a vector have none"]


def lost_note(named: object, do: str) -> str:
    """Return a note on n-grams of given vectors that the output does not keep."""
    return f"the n-grams of {named} are not kept: {do}"


def subword_note(words: list[str]) -> list[str]:
    """Return a note on words whose vectors come from their n-grams, none if there are none."""
    if not words:
        return []
    have = several(len(words), "word has no vector", "words have no vector")
    own = "its n-grams give one" if len(words) == 1 else "their n-grams give one each"
    return [f"{have}, {own}: {first_few(words)}"]
