"""Scores of words without a vector, which n-grams give one: unseen words apart, and all.

The answers to items whose words all have vectors are those without n-grams. Those to the others
come from the same vectors with the words of the sets appended, so that they may be answers of
analogies too. Too few items of the first or second kind have no score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import several
from wordgeom.evaluation.analogies import Analogies
from wordgeom.evaluation.answers import Answers, Task
from wordgeom.evaluation.exclusions import LEAST, too_few
from wordgeom.evaluation.options import FOLD, ZERO
from wordgeom.evaluation.similarity import Similarity
from wordgeom.runtime.context import Context
from wordgeom.subwords.open_vocabulary import OpenVocabulary, subword_note
from wordgeom.vectors.keyed import Vectors

SEEN, UNSEEN, ALL = "seen words", "unseen words", "all"


@dataclass(frozen=True)
class UnseenAnswers:
    """For each set with unseen words, the answers to their items and to all; notes on the words.

    seen: what the report calls the rest of each of these sets; few: why other sets have too few
    answers, those of n-grams included.
    """

    answers: list[Answers] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seen: dict[str, str] = field(default_factory=dict)
    few: dict[str, InputError] = field(default_factory=dict)


def unseen_answers(
    known: OpenVocabulary, tasks: Mapping[str, Task], seen: Sequence[Answers], context: Context
) -> UnseenAnswers:
    """Return the answers that n-grams add.

    tasks: by their names in the report; seen: the answers without n-grams, those to sets that have
    too few included.
    """
    made, before = UnseenAnswers(), {each.name: each for each in seen}
    for number, (name, task) in enumerate(tasks.items()):
        if not isinstance(task, (Similarity, Analogies)):
            continue
        fold = task.options.case == FOLD
        vectors, added = known.including(w.lower() if fold else w for w in task.asked_words)
        if not added:
            continue
        if task.options.oov == ZERO:
            have = several(len(added), "word has", "words have")
            made.notes.append(f"{name}: --oov zero: {have} n-grams, which are not used")
            continue
        limit = task.options.restrict_vocab or len(known.vectors.words)
        every = replace(task, options=task.options.but(restrict_vocab=0))
        try:
            answers = every.answer(
                _limited(vectors, limit, len(added)), context.part(f"all-{number}")
            )
        except InputError:  # as without n-grams, which the report says
            continue
        alone = before.get(name)
        new = answers.only(np.setdiff1d(answers.items, [] if alone is None else alone.items))
        few = too_few(answers)
        if len(new.items) and few is not None:
            made.few[name] = few
        elif len(new.items):
            # The row of seen words, if there is one, already has the notes on the file.
            own = () if alone is None or too_few(alone) else alone.notes
            notes = tuple(note for note in answers.notes if note not in own)
            parts = [(new, UNSEEN), (replace(answers, notes=notes), ALL)]
            made.notes.append(f"{name}: {subword_note(added)[0]}")
            if len(new.items) < LEAST:
                del parts[0]
                have = several(len(new.items), "item has", "items have")
                made.notes.append(f"{name}: {have} unseen words: a score needs {LEAST}")
            made.answers.extend(replace(part, name=f"{name}, {what}") for part, what in parts)
            made.seen[name] = f"{name}, {SEEN}"
    return made


def _limited(vectors: Vectors, limit: int, added: int) -> Vectors:
    """Return the first `limit` words and the last `added`."""
    own = len(vectors.words) - added
    if own <= limit:
        return vectors
    rows = np.r_[:limit, own : own + added]
    return Vectors([vectors.words[row] for row in rows.tolist()], vectors.matrix[rows])
