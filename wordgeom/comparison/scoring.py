"""Judging several files of vectors alike: on the words that all have, difference by difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from wordgeom.comparison.entries import Contender
from wordgeom.comparison.result import Judgement
from wordgeom.core.errors import InputError
from wordgeom.evaluation.answers import Score, Task, difference, scores
from wordgeom.runtime.context import Context
from wordgeom.stages.evaluate import judge
from wordgeom.vectors.keyed import Vectors, read_vectors


def common_words(paths: Sequence[Path]) -> list[str]:
    """Return the words that all files have, in the first one's order; raises InputError."""
    # One file at a time: together they may not fit the memory.
    first = read_vectors(paths[0]).words
    others = [set(read_vectors(path).words) for path in paths[1:]]
    common = [word for word in first if all(word in words for words in others)]
    if not common:
        found = f"{first[0]!r} first in {paths[0].name}"
        do = "compare vectors of one language and spelling"
        raise InputError("the vectors have no word in common", found=found, do=do)
    return common


def answered(
    named: Sequence[Contender], common: list[str], tasks: Sequence[Task], context: Context
) -> tuple[list[Judgement], list[str]]:
    """Let all answer on the common words; a set that somebody cannot answer is a note."""
    judged, notes, errors = [], [], []
    for one in named:
        if one.path is None:
            judged.append(Judgement(one))
            continue
        vectors = read_vectors(one.path)
        size = len(vectors.words), vectors.matrix.shape[1]
        try:
            found, refused = judge(_chosen(vectors, common), tasks, context)
        except InputError as error:
            found, refused = [], {"all sets": str(error)}
            errors.append(error)
        judged.append(Judgement(one, *size, {answers.name: answers for answers in found}))
        notes += [f"{one.name}: {name} left out: {why}" for name, why in refused.items()]
        if vectors.duplicates:
            notes.append(f"{one.name}: words that the file holds again: {vectors.duplicates:,}")
    if not any(one.answers for one in judged):
        raise errors[0]
    return judged, notes


def _chosen(vectors: Vectors, common: list[str]) -> Vectors:
    if vectors.words == common:
        return vectors
    return Vectors(common, vectors.matrix[[vectors.index[word] for word in common]])


def scored_against(
    judged: Sequence[Judgement], name: str | None, resamples: int, seed: int
) -> tuple[tuple[Judgement, ...], str]:
    """Return the judgements with scores, and differences from the one of that name.

    Where it has no answers, or no name is given, from the first that has; also returns its name.
    """
    whole = [one for one in judged if one.answers]
    first = next((one for one in whole if one.contender.name == name), whole[0])

    def figures(one: Judgement) -> Judgement:
        own = {name: scores(answers, resamples, seed) for name, answers in one.answers.items()}
        return replace(one, scores=own, differences=differences(one))

    def differences(one: Judgement) -> dict[str, list[Score]]:
        if one is first:
            return {}
        pairs = [(n, first.answers[n], one.answers[n]) for n in one.answers if n in first.answers]
        return {name: [difference(a, b, measure, resamples, seed) for measure in a.measures]
                for name, a, b in pairs}  # fmt: skip

    return tuple(figures(one) for one in judged), first.contender.name
