"""The frame of the stages that infer further vectors from given ones: `extend` and `impute`."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from wordgeom.core.formatting import several
from wordgeom.formats.vector_files import read_any_vectors
from wordgeom.linalg.device import memory_limit
from wordgeom.runtime.context import Context
from wordgeom.stages.given_vectors import GivenVectors
from wordgeom.stages.stage import Job, Outcome
from wordgeom.subwords.open_vocabulary import OpenVocabulary
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.zeros import undirected_notes, without_zeros


class Inference(GivenVectors):
    """A stage that infers vectors."""

    @property
    @abstractmethod
    def drop_zero(self) -> bool:
        """Whether zero vectors are taken for missing ones."""

    @cached_property
    def base(self) -> Vectors:
        """The given vectors, as they are used. Raises what `read_any_vectors` raises."""
        return self._read[0]

    @property
    def reading_notes(self) -> list[str]:
        """Notes on what was read."""
        return self._read[1]

    @cached_property
    def known(self) -> OpenVocabulary:
        """The given vectors as they were read, with the n-grams that the output keeps."""
        memory = memory_limit(self.run)
        if self.kept or self.file is None:
            return self.read_given(memory)
        return OpenVocabulary(read_any_vectors(self.file, memory=memory))

    @cached_property
    def _read(self) -> tuple[Vectors, list[str]]:
        read = self.known.vectors
        used, dropped = without_zeros(read, self.named) if self.drop_zero else (read, [])
        return used, [
            *reading_notes(replace(used, duplicates=read.duplicates), self.named),
            *dropped,
        ]

    @abstractmethod
    def infer(self, context: Context) -> Outcome:
        """Return the vectors as value, with the middle of the summary."""

    @abstractmethod
    def write(self, out: Path, made: Any, card: Mapping[str, Any]) -> None:
        """Write the value of the outcome, with its run card."""

    def work(self, job: Job) -> Outcome:
        """Infer the vectors, and write them with the given ones."""
        made = self.infer(job.context)
        made.notes += self.ngram_notes
        if self.out is not None:
            self.write(self.out, made.value, job.card(self.request, made))
        where = "vectors" if self.out is None else os.fspath(self.out)
        made.path, made.summary = self.out, f"{where}: {made.summary}; {job.seconds()}"
        return made


def reading_notes(vectors: Vectors, named: str) -> list[str]:
    """Return notes on words that a file repeats, and on vectors that are not finite or zero."""
    notes = undirected_notes(vectors.words, vectors.matrix, named)
    if vectors.duplicates:
        repeated = several(vectors.duplicates, "repeated word", "repeated words")
        notes.insert(0, f"{named}: {repeated} ignored")
    return notes
