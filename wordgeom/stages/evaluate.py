"""The stage that evaluates vectors on test sets: scores with intervals, and what was left out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from wordgeom.checkpoint.state import evaluation_state
from wordgeom.core.errors import InputError
from wordgeom.core.requests import request_of
from wordgeom.evaluation.answers import Answers, Task, group_scores, scores
from wordgeom.evaluation.exclusions import DEGENERATE, too_few
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.report import Report, ReportOptions, render
from wordgeom.formats.vector_files import files_of, ngram_digests, read_open_vectors
from wordgeom.linalg.device import memory_limit
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import ResumeOptions, UseOptions
from wordgeom.stages.inference import reading_notes
from wordgeom.stages.stage import Job, Outcome, Stage
from wordgeom.stages.unseen_words import unseen_answers
from wordgeom.subwords.open_vocabulary import OpenVocabulary
from wordgeom.vectors.keyed import Vectors, digest_of
from wordgeom.vectors.run_card import file_content


@dataclass(frozen=True)
class Evaluate(Stage):
    """Evaluate vectors on tasks.

    vectors: a file, or vectors in memory; named: what the report calls them; files: of the tasks,
    whose content a checkpoint belongs to.
    """

    vectors: str | Path | OpenVocabulary
    named: str
    tasks: Sequence[Task]
    options: EvalOptions
    run: UseOptions
    form: ReportOptions = field(default_factory=ReportOptions)
    files: tuple[str, ...] = ()
    resume: ResumeOptions = field(default_factory=ResumeOptions)
    out: None = None

    @property
    def state(self) -> Path | None:
        """A directory beside the vectors, where that can be written."""
        if isinstance(self.vectors, OpenVocabulary) or not self.files:
            return None
        path = Path(self.vectors)
        writable = os.access(path.absolute().parent, os.W_OK)
        return evaluation_state(path) if writable else None

    @cached_property
    def known(self) -> OpenVocabulary:
        """The vectors with their n-grams. Raises what `read_open_vectors` raises."""
        if isinstance(self.vectors, OpenVocabulary):
            return self.vectors
        return read_open_vectors(Path(self.vectors), memory=memory_limit(self.run))

    @cached_property
    def request(self) -> dict[str, Any]:
        """The options, and the digests of vectors, their n-grams and sets."""
        kinds = [type(task).__name__ for task in self.tasks]  # a file may be read as several
        options = {**self.options.result_options(), "seed": self.run.seed, "sets": kinds}
        digests = [digest_of(self.known.vectors)]
        if not isinstance(self.vectors, OpenVocabulary):
            digests += ngram_digests(Path(self.vectors))
        parts = [part for file in self.files for part in _parts(Path(file))]
        digests += [file_content(part)["sha256"] for part in parts]
        return request_of("eval", options, digests)

    def work(self, job: Job) -> Outcome:
        """Answer all sets, and return the report.

        The report lists a set that cannot be answered. Raises InputError where none can be.
        """
        read, run = self.known.vectors, self.run
        seen = _attempt(read, self.tasks, job.context)
        named = dict(zip(numbered([task.name for task in self.tasks]), self.tasks, strict=True))
        unseen = unseen_answers(self.known, named, [*seen.answers, *seen.few], job.context)
        seen.failed.update(unseen.few)
        answers = [*seen.answers, *unseen.answers]
        if not answers:
            self._check(seen)
        notes = [f"{each.name}: {note}" for each in answers for note in each.notes]
        notes += [*unseen.notes, *self.known.lost_notes, *reading_notes(read, self.named)]
        n = self.options.resamples
        report = Report(
            vectors=self.named,
            words=len(read.words),
            dimension=read.matrix.shape[1],
            policy={**self.options.result_options(), "seed": run.seed},
            scores=[score for each in answers for score in scores(each, n, run.seed)],
            sections={e.name: group_scores(e, n, run.seed) for e in answers if e.groups},
            excluded={each.name: dict(each.excluded) for each in answers if each.excluded},
            refused={unseen.seen.get(name, name): why for name, why in seen.refused.items()},
            notes=notes,
        )
        return Outcome("", report=render(report, self.form), value=report)

    def _check(self, seen: _Attempt) -> None:
        """Raise InputError where no set could be answered."""
        try:
            seen.check()
        except InputError as error:
            if error.do == DEGENERATE:
                raise
            if self.files:
                do = "; ".join(filter(None, [error.do, *self.known.lost_notes]))
                raise InputError(error.what, where=error.where, found=error.found, do=do) from None
            what, do = "the default sets are English, and none can be scored", "name your own sets"
            raise InputError(what, where=self.named, do=do) from None


@dataclass(frozen=True)
class _Attempt:
    """Answers to sets, those to sets that have too few, and why sets have no score, by name."""

    answers: list[Answers] = field(default_factory=list)
    few: list[Answers] = field(default_factory=list)
    failed: dict[str, InputError] = field(default_factory=dict)

    @property
    def refused(self) -> dict[str, str]:
        """The reasons as text."""
        return {name: str(error) for name, error in self.failed.items()}

    def check(self) -> None:
        """Raise the first set's InputError where there are no answers."""
        if self.failed and not self.answers:
            name, error = next(iter(self.failed.items()))
            raise error if error.where else error.within(name)


def judge(
    vectors: Vectors, tasks: Sequence[Task], context: Context
) -> tuple[list[Answers], dict[str, str]]:
    """Return the answers to each set, and why a set could not be answered, by name.

    Sets of the same name are numbered. Raises the first set's InputError where all fail.
    """
    made = _attempt(vectors, tasks, context)
    made.check()
    return made.answers, made.refused


def _attempt(vectors: Vectors, tasks: Sequence[Task], context: Context) -> _Attempt:
    """Answer each set, or find out why it has no score."""
    made = _Attempt()
    names = numbered([task.name for task in tasks])
    for number, (task, name) in enumerate(zip(tasks, names, strict=True)):
        try:
            answered = task.answer(vectors, context.part(f"set-{number}"))
        except InputError as error:
            made.failed[name] = error
            continue
        few = too_few(answered)
        (made.answers if few is None else made.few).append(replace(answered, name=name))
        if few is not None:
            made.failed[name] = few
    return made


def numbered(names: Sequence[str]) -> list[str]:
    """Return the names, repeated ones with a number."""
    made: list[str] = []
    for name in names:
        others = (f"{name} ({number})" for number in count(2))
        made.append(name if name not in made else next(o for o in others if o not in made))
    return made


def _parts(path: Path) -> list[Path]:
    """Return the files of a set, or of reference vectors in a directory."""
    return files_of(path) if path.is_dir() else [path]
