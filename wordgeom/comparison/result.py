"""The result of a comparison: an evaluation of each candidate, and its JSON form."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wordgeom.comparison.entries import Candidate
from wordgeom.evaluation.answers import Answers, Score, group_scores
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.report import excluded_line, policy_line, score_facts


@dataclass(frozen=True)
class Evaluation:
    """The scores of a candidate, by set.

    words, dimension: of its own file, 0 without one. differences: its scores minus the reference's,
    on sets that both have scores for; empty for the reference.
    """

    candidate: Candidate
    words: int = 0
    dimension: int = 0
    answers: Mapping[str, Answers] = field(default_factory=dict)
    scores: Mapping[str, Sequence[Score]] = field(default_factory=dict)
    differences: Mapping[str, Sequence[Score]] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """Candidates evaluated by the same sets on their common words.

    sets: names of the sets with a score; common: number of common words; against: name of the
    reference for differences; counting: seconds of counting the text, by matrix.
    """

    evaluations: tuple[Evaluation, ...]
    sets: tuple[str, ...]
    common: int
    against: str
    options: EvalOptions
    seed: int
    notes: tuple[str, ...]
    counting: Mapping[str, float] = field(default_factory=dict)

    def measure(self, name: str) -> str:
        """Return the main measure of a set."""
        return next(j.scores[name][0].measure for j in self.evaluations if name in j.scores)

    def all_notes(self) -> list[str]:
        """Return all notes for the reader, one line each."""
        tasks = {answers.task for one in self.evaluations for answers in one.answers.values()}
        notes = [*self._left_out(), *self._of_candidates(), *self._of_sets()]
        return [*notes, *self._unequal(tasks), *self.notes, policy_line(self.policy, tasks)]

    @property
    def policy(self) -> dict[str, Any]:
        """The options that affect scores, by name."""
        return {**self.options.result_options(), "seed": self.seed}

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON values; None for a missing number."""
        return {
            "against": self.against,
            "common_words": self.common,
            "counting_seconds": dict(self.counting),
            "policy": self.policy,
            "rows": [self._row(evaluation) for evaluation in self.evaluations],
            "notes": self.all_notes(),
        }

    def _left_out(self) -> Iterator[str]:
        for one in self.evaluations:
            if one.words > self.common:
                left = f"{one.words - self.common:,} of {one.words:,} words"
                yield f"{one.candidate.name}: left out: {left} (not in all vectors)"

    def _of_candidates(self) -> Iterator[str]:
        for one in self.evaluations:
            if one.candidate.error:
                yield f"{one.candidate.name}: no vectors: {one.candidate.error}"
            for note in one.candidate.notes:
                yield f"{one.candidate.name}: {note}"

    def _of_sets(self) -> Iterator[str]:
        """Yield exclusions and notes of sets, once if they apply to all candidates."""
        for name in self.sets:
            answered = {j.candidate.name: j.answers[name] for j in self.evaluations
                        if name in j.answers}  # fmt: skip
            lines: dict[str, list[str]] = {}
            for candidate, answers in answered.items():
                for line in _lines(answers):
                    lines.setdefault(line, []).append(candidate)
            for line, names in lines.items():
                of = "" if len(names) == len(answered) else f" ({', '.join(names)})"
                yield f"{name}: {line}{of}"

    def _unequal(self, tasks: Collection[str]) -> Iterator[str]:
        sizes = {one.dimension for one in self.evaluations if one.scores}
        if len(sizes) > 1 and "qvec" in tasks:
            yield "QVEC grows with K; do not compare rows of different K"

    def _row(self, one: Evaluation) -> dict[str, Any]:
        candidate = one.candidate
        return {
            "name": candidate.name,
            "kind": candidate.kind,
            "dimension": one.dimension,
            "words": one.words,
            "seconds": candidate.seconds,
            "peak_bytes": candidate.peak_bytes,
            "tokens": candidate.tokens,
            "cached": candidate.cached,
            "error": candidate.error or None,
            "scores": _listed(one.scores),
            "differences": _listed(one.differences),
            "sections": self._sections(one),
            "excluded": {name: dict(found.excluded) for name, found in one.answers.items()},
            "notes": list(candidate.notes),
        }

    def _sections(self, one: Evaluation) -> dict[str, Any]:
        how = (self.options.resamples, self.seed)
        named = [(n, group_scores(a, *how)) for n, a in one.answers.items() if a.groups]
        return {name: {part: _listed({part: found}) for part, found in groups.items()}
                for name, groups in named}  # fmt: skip


def _lines(answers: Answers) -> Iterator[str]:
    for reason, number in answers.excluded.items():
        yield excluded_line(reason, number)
    yield from answers.notes


def _listed(scores: Mapping[str, Sequence[Score]]) -> list[dict[str, Any]]:
    return [score_facts(score) for found in scores.values() for score in found]
