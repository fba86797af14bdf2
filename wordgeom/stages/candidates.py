"""The reductions of vectors that `compress` compares, each quantised and measured."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Float32, Int64
from wordgeom.evaluation.answers import Score
from wordgeom.runtime.context import Context
from wordgeom.stages.faithfulness import faithfulness
from wordgeom.stages.reducers import REDUCERS
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.norms import row_norms
from wordgeom.vectors.options import BEST, CompressOptions
from wordgeom.vectors.quantisation import Codes, product_codes, scalar_codes

_STREAM = 0x7121  # of the random numbers that draw the words of a trial


@dataclass(frozen=True)
class Candidate:
    """A reduction of vectors, quantised: its codes, what they stand for, and its scores."""

    codes: Codes
    decoded: Vectors
    scores: list[Score]

    @property
    def recall(self) -> float:
        """The share of the nearest neighbours that it preserves."""
        return _recall(self.scores)


@dataclass(frozen=True)
class Candidates:
    """The reductions of vectors to `dim` columns.

    named: what errors call the vectors; notes: why reductions were left out.
    """

    vectors: Vectors
    dim: int
    options: CompressOptions
    named: str
    context: Context
    notes: list[str] = field(default_factory=list)

    def found(self) -> dict[str, Candidate]:
        """Return the one that `--reducer` names, or all to choose from; raises InputError."""
        if self.options.reducer != BEST:
            return {self.options.reducer: self._of(self.options.reducer)}
        found: dict[str, Candidate] = {}
        for name, reducer in REDUCERS.items():
            most = reducer.most
            try:
                if most is None or len(self.vectors.words) <= most or self._wins(name, most, found):
                    found[name] = self._of(name)
            except InputError as error:
                if most is None:
                    raise
                self.notes.append(f"{error.what}: skipped")
        return found

    def _wins(self, name: str, most: int, found: dict[str, Candidate]) -> bool:
        """Return whether a reduction leads on `most` drawn words, which costs less than on all.

        The leader is fitted to all words. The trial favours a reduction that matches a fixed number
        of them: that is a larger share of fewer words.
        """
        ahead = leader(found)
        drawn = self._drawn(most)
        sample = _rows(self.vectors, drawn)
        kept, _ = faithfulness(_rows(found[ahead].decoded, drawn), sample, self.named, self.context)
        part = self.context.part(f"trial-{name}")
        trial = replace(self, vectors=sample, context=part)
        own = trial._of(name)
        if own.recall > _recall(kept):
            return True
        scores = f"recall {own.recall:.4f} on {most:,} drawn words, {ahead} {_recall(kept):.4f}"
        self.notes.append(f"{name}: {scores}; to try it on all, pass --reducer {name}")
        return False

    def _drawn(self, most: int) -> Int64:
        draw = np.random.default_rng((_STREAM, self.context.seed))
        return np.sort(draw.choice(len(self.vectors.words), most, replace=False))

    def _of(self, name: str) -> Candidate:
        vectors = self.vectors
        reduced = REDUCERS[name].reduce(vectors, self.dim, self.context)
        if not reduced.shape[1]:
            raise InputError("every vector is zero", where=self.named, do="train again")
        codes = self._codes(reduced)
        decoded = Vectors(vectors.words, codes.decoded())
        scores, _ = faithfulness(decoded, vectors, self.named, self.context)
        return Candidate(codes, decoded, scores)

    def _codes(self, reduced: Float32) -> Codes:
        norms, groups = row_norms(self.vectors.matrix), self.options.pq
        if groups is None:
            return scalar_codes(reduced, norms, self.options.bits)
        groups = min(groups, reduced.shape[1])
        return product_codes(reduced, norms, groups, self.context.seed, self.context.pool)


def leader(found: dict[str, Candidate]) -> str:
    """Return the name of the candidate with the highest recall, the first of equals."""
    return max(found, key=lambda name: found[name].recall)


def _recall(scores: list[Score]) -> float:
    return scores[0].value if scores else 0.0


def _rows(vectors: Vectors, rows: Int64) -> Vectors:
    return Vectors([vectors.words[row] for row in rows.tolist()], vectors.matrix[rows])
