"""What came of comparing vectors: a judgement for each contender, and all of it as JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wordgeom.comparison.entries import Contender
from wordgeom.evaluation.answers import Answers, Score, group_scores
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.report import policy_line, score_facts


@dataclass(frozen=True)
class Judgement:
    """How one contender did, by the names of the sets that it could answer.

    words, dimension: of its own file, 0 where it made none. differences: its figures less those
    of the contender that all are held against, of sets that both answered; none for that one.
    """

    contender: Contender
    words: int = 0
    dimension: int = 0
    answers: Mapping[str, Answers] = field(default_factory=dict)
    scores: Mapping[str, Sequence[Score]] = field(default_factory=dict)
    differences: Mapping[str, Sequence[Score]] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """Contenders judged by the same sets on the words that all of them have.

    sets: names of those that somebody answered; common: how many words all have; against: whom
    differences are taken from.
    """

    judgements: tuple[Judgement, ...]
    sets: tuple[str, ...]
    common: int
    against: str
    options: EvalOptions
    seed: int
    notes: tuple[str, ...]

    def measure(self, name: str) -> str:
        """Return the name of a set's main measure."""
        return next(j.scores[name][0].measure for j in self.judgements if name in j.scores)

    def remarks(self) -> list[str]:
        """Return what a reader of the figures must know, a line each."""
        told = [*self._left_out(), *self._of_contenders(), *self._of_sets()]
        tasks = {answers.task for one in self.judgements for answers in one.answers.values()}
        return [*told, *self._unequal(tasks), *self.notes, policy_line(self.policy, tasks)]

    @property
    def policy(self) -> dict[str, Any]:
        """The options that decide a score, by name."""
        return {**self.options.result_options(), "seed": self.seed}

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it: None for a figure that there is not."""
        return {
            "against": self.against,
            "common_words": self.common,
            "policy": self.policy,
            "rows": [self._row(judgement) for judgement in self.judgements],
            "notes": self.remarks(),
        }

    def _left_out(self) -> Iterator[str]:
        for one in self.judgements:
            if one.words > self.common:
                left = f"{one.words - self.common:,} of {one.words:,} words"
                yield f"{one.contender.name}: {left} are not in all others: left out"

    def _of_contenders(self) -> Iterator[str]:
        for one in self.judgements:
            if one.contender.error:
                yield f"{one.contender.name}: no vectors: {one.contender.error}"
            for note in one.contender.notes:
                yield f"{one.contender.name}: {note}"

    def _of_sets(self) -> Iterator[str]:
        """Yield what sets left out or noted: once where it holds for all, else by contender."""
        for name in self.sets:
            answered = {j.contender.name: j.answers[name] for j in self.judgements
                        if name in j.answers}  # fmt: skip
            held: dict[str, list[str]] = {}
            for who, answers in answered.items():
                for line in _lines(answers):
                    held.setdefault(line, []).append(who)
            for line, names in held.items():
                by = "" if len(names) == len(answered) else f" ({', '.join(names)})"
                yield f"{name}: {line}{by}"

    def _unequal(self, tasks: Collection[str]) -> Iterator[str]:
        sizes = {one.dimension for one in self.judgements if one.scores}
        if len(sizes) > 1 and "qvec" in tasks:
            yield "QVEC grows with K: it does not compare rows of different K"

    def _row(self, one: Judgement) -> dict[str, Any]:
        who = one.contender
        return {
            "name": who.name,
            "kind": who.kind,
            "dimension": one.dimension,
            "words": one.words,
            "seconds": who.seconds,
            "peak_bytes": who.peak_bytes,
            "tokens": who.tokens,
            "error": who.error or None,
            "scores": _listed(one.scores),
            "differences": _listed(one.differences),
            "sections": self._sections(one),
            "excluded": {name: dict(found.excluded) for name, found in one.answers.items()},
            "notes": list(who.notes),
        }

    def _sections(self, one: Judgement) -> dict[str, Any]:
        how = (self.options.resamples, self.seed)
        named = [(n, group_scores(a, *how)) for n, a in one.answers.items() if a.groups]
        return {name: {part: _listed({part: found}) for part, found in groups.items()}
                for name, groups in named}  # fmt: skip


def _lines(answers: Answers) -> Iterator[str]:
    for reason, number in answers.excluded.items():
        yield f"left out, {reason}: {number:,}"
    yield from answers.notes


def _listed(scores: Mapping[str, Sequence[Score]]) -> list[dict[str, Any]]:
    return [score_facts(score) for found in scores.values() for score in found]
