"""Scores of change of every word, by the tests of drift and by the field's baselines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from planted_text import PASSAGE, Speeches

import wordgeom as wg
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.drift.measures import gbu, neighbours, pmi, procrustes
from wordgeom.drift.measures.passages import Passages, row_sums, split_time
from wordgeom.drift.options import PERMUTATION, DriftOptions
from wordgeom.drift.p_values import q_values
from wordgeom.drift.testing import test_directions
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.methods.dlsa.polynomials import Polynomials
from wordgeom.peers import PeerOptions, sgns
from wordgeom.peers.sentences import LONGEST
from wordgeom.runtime.context import Context
from wordgeom.vectors.nearest import unit_vectors

FLIPS, DLSA, PMI, GBU, SGNS = FAMILIES = ("flips", "dlsa", "pmi", "gbu", "sgns")
_LEAST_USES = 20
_NEAREST = 20  # one in so many words is a neighbour: 1,000 of 20,000
_CONTEXTS, _WINDOW, _DEGREE = 2000, 5, 2


@dataclass(frozen=True)
class Settings:
    """Ranks and dimensions; permutations or flips; minimum count of a word; seed."""

    dims: tuple[int, ...]
    permutations: int
    min_count: int
    seed: int


@dataclass(frozen=True, eq=False)
class Scored:
    """A measure and its score (V) of each word; p, q (V) NaN without a test."""

    measure: str
    score: Float64
    p: Float64
    q: Float64

    @property
    def ours(self) -> bool:
        """Whether the score is one of the test by sign flips."""
        return self.measure.startswith(FLIPS)


@dataclass(frozen=True, eq=False)
class Periods:
    """Two periods: their passages, the words in use in both, and the speeches of each."""

    name: str
    passages: Passages
    words: Int64
    speeches: tuple[Int64, Int64]


class Text:
    """Counts of passages and of speeches of one planted text, in a directory."""

    def __init__(
        self, speeches: Speeches, names: list[str], folder: Path, settings: Settings,
        context: Context,
    ) -> None:  # fmt: skip
        self.speeches, self.settings, self.context = speeches, settings, context
        self._folder, self._names = folder, names
        speeches.write(folder / "text.tsv")

    @cached_property
    def passages(self) -> StoredDocuments:
        """Counts of passages of 10 tokens."""
        return self._count("passages", passages=PASSAGE)

    @cached_property
    def whole(self) -> StoredDocuments:
        """Counts of speeches."""
        return self._count("speeches")

    @property
    def words(self) -> list[str]:
        """The vocabulary (V) of both."""
        return self.passages.vocabulary.words

    @property
    def documents(self) -> Int64:
        """The number of speeches (V) that contain each word."""
        return np.bincount(self.whole.full().indices, minlength=len(self.words))

    def scores(self, family: str) -> list[Scored]:
        """Return the scores of a family of measures."""
        makers = {FLIPS: _flips, DLSA: _dlsa, PMI: _pmi, GBU: _gbu, SGNS: _sgns}
        return list(makers[family](self))

    def model(self, dim: int) -> Path:
        """Return a dynamic model of the speeches."""
        path = self._folder / f"model{dim}"
        wg.train_model(
            self.whole.store.path, path, dim=dim, degree=_DEGREE, seed=self.settings.seed,
            threads=self.context.pool.threads,
        )  # fmt: skip
        return path

    def periods(self) -> Iterator[Periods]:
        """Yield the halves, and the first and the last third, of the tokens."""
        X, documents = self.passages.full(), self.passages.documents()
        years = self.years(self.passages)
        distinct, codes = np.unique(years, return_inverse=True)
        done = np.cumsum(np.bincount(codes, row_sums(X)))
        thirds = distinct[np.searchsorted(done, done[-1] * np.array([1, 2]) / 3)] + 0.5
        halves = np.full(2, split_time(years, X, None))
        for name, (end, start) in (("halves", halves), ("thirds", thirds)):
            rows = np.flatnonzero((years < end) | (years >= start))
            chosen = [documents[row] for row in rows.tolist()]
            found = Passages.of(X.select(rows), chosen, years[rows] >= start)
            words = np.flatnonzero(found.uses().min(axis=0) >= _LEAST_USES)
            spoken = self.speeches.years
            both = np.flatnonzero(spoken < end), np.flatnonzero(spoken >= start)
            yield Periods(name, found, words, both)

    def years(self, counts: StoredDocuments) -> Float64:
        """Return the year of each row of counts."""
        rows = np.array([int(document.id) for document in counts.documents()])
        return self.speeches.years[rows].astype(np.float64)

    def scored(self, measure: str, words: Int64, score: Float64, p: Array | None = None) -> Scored:
        """Return a measure of some words."""
        values = np.full((3, len(self.words)), np.nan)
        values[0, words] = score
        if p is not None:
            values[1:, words] = p, q_values(p, False)
        return Scored(measure, *values)

    def _count(self, name: str, **options: Any) -> StoredDocuments:
        kept = self._folder / "keep.txt"
        kept.write_text("\n".join(self._names) + "\n", encoding="utf-8")
        wg.count_documents(
            self._folder / "text.tsv", out=self._folder / name, input_format="tsv", header="no",
            time_field="1", id_field="2", text_field="3", tokeniser="whitespace",
            min_count=self.settings.min_count, keep_words=kept,
            threads=self.context.pool.threads, **options,
        )  # fmt: skip
        return StoredDocuments.open(self._folder / name)


def _flips(text: Text) -> Iterator[Scored]:
    """F, p and turn, of passages and of speeches."""
    for name, counts in (("passages", text.passages), ("speeches", text.whole)):
        X, years = counts.full(), text.years(counts)
        units = np.array([int(document.id) for document in counts.documents()])
        basis = Polynomials.of(years, _DEGREE).values
        options = DriftOptions(permutations=text.settings.permutations)
        for rank in text.settings.dims:
            found = test_directions(X, units, basis, years, options, rank, text.context)
            label, p, q = f"r = {rank}, {name}", found.pvalues, found.qvalues
            yield Scored(f"flips F, {label}", found.F, p, q)
            yield Scored(f"flips p, {label}", -p, p, q)
            yield Scored(f"flips turn, {label}", found.turn, p, q)


def _dlsa(text: Text) -> Iterator[Scored]:
    """Displacement and movement of dynamic LSA, and F of the permutation test."""
    row = {word: k for k, word in enumerate(text.words)}
    for dim in text.settings.dims:
        report = wg.measure_drift(
            text.model(dim), test=PERMUTATION, permutations=text.settings.permutations, top=0,
            neighbours=0, seed=text.settings.seed, threads=text.context.pool.threads,
        )  # fmt: skip
        changes = [word.change for word in report.words]
        rows = np.array([row[change.word] for change in changes])
        none = np.full(len(row), np.nan)
        for name in ("displacement", "movement"):
            values = np.array([getattr(change, name) for change in changes])
            yield text.scored(f"dlsa {name}, r = {dim}", rows, values)
        F, p, q = none.copy(), none.copy(), none.copy()
        F[rows], p[rows], q[rows] = np.array([(c.f, c.p, c.q) for c in changes]).T
        yield Scored(f"permutation F, r = {dim}", F, p, q)


def _pmi(text: Text) -> Iterator[Scored]:
    """Distance of PPMI vectors over 2,000 contexts, with p for halves."""
    for of in text.periods():
        number = text.settings.permutations if of.name == "halves" else 0
        found = pmi.measure(of.passages, of.words, _CONTEXTS, number, text.context)
        p = found.p if number else None
        yield text.scored(f"PPMI distance, {of.name}", of.words, found.distances, p)


def _gbu(text: Text) -> Iterator[Scored]:
    """Geometric build-up, aligned by Procrustes, and neighbourhood change."""
    for of in text.periods():
        for dim in text.settings.dims:
            found = gbu.measure(of.passages, of.words, dim, 0, text.context)
            yield from _of_vectors(text, f"gbu {dim}, {of.name}", of, (found.then, found.now))


def _sgns(text: Text) -> Iterator[Scored]:
    """Skip-gram on the text of each period, aligned by Procrustes, and neighbourhood change."""
    known = set(text.words)
    names = [word if word in known else None for word in text.speeches.words]
    for of in text.periods():
        for dim in text.settings.dims:
            units = []
            for rows in of.speeches:
                options = PeerOptions(dim, _WINDOW, 1, text.settings.seed)
                found = sgns.train(_Sentences(text.speeches, rows, names), options).vectors
                places = [found.index[text.words[word]] for word in of.words.tolist()]
                units.append(unit_vectors(found.matrix[places]))
            yield from _of_vectors(text, f"skip-gram {dim}, {of.name}", of, (units[0], units[1]))


def _of_vectors(
    text: Text, label: str, of: Periods, units: tuple[Array, Array]
) -> Iterator[Scored]:
    """Yield cosine distance after alignment, and neighbourhood change (Gonen et al. 2020)."""
    then, now = units
    yield text.scored(f"Procrustes, {label}", of.words, procrustes.distances(then, now))
    frequent = np.argsort(-of.passages.uses().sum(axis=0)[of.words], kind="stable")
    k = max(1, len(of.words) // _NEAREST)
    changes = neighbours.distances(then, now, frequent, k, text.context)
    yield text.scored(f"neighbours, {label}", of.words, changes)


@dataclass(frozen=True, eq=False)
class _Sentences:
    """Some speeches as lists of words; names: of each token, None outside the vocabulary."""

    speeches: Speeches
    rows: Int64
    names: list[str | None]

    def __iter__(self) -> Iterator[list[str]]:
        starts = self.speeches.starts
        for row in self.rows.tolist():
            tokens = self.speeches.tokens[starts[row] : starts[row + 1]].tolist()
            words = [name for name in map(self.names.__getitem__, tokens) if name is not None]
            for start in range(0, len(words), LONGEST):
                yield words[start : start + LONGEST]
