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
from wordgeom.formats.vector_files import files_of, read_any_vectors
from wordgeom.linalg.device import memory_limit
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.stage import Job, Outcome, Stage
from wordgeom.subwords.open_vocabulary import OpenVocabulary
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.zeros import undirected_notes, without_zeros

Source = str | os.PathLike[str] | Vectors


class Inference(Stage):
    """A stage that infers vectors; vectors: a file, or vectors in memory."""

    vectors: Source
    run: RunOptions

    @property
    def file(self) -> Path | None:
        """The file of the given vectors, None for vectors in memory."""
        return None if isinstance(self.vectors, Vectors) else Path(self.vectors)

    @property
    def files_given(self) -> list[Path]:
        """The files of the given vectors."""
        return [] if self.file is None else files_of(self.file)

    @property
    @abstractmethod
    def drop_zero(self) -> bool:
        """Whether zero vectors are taken for missing ones."""

    @property
    def named(self) -> str:
        """What messages call the given vectors."""
        return "the vectors" if isinstance(self.vectors, Vectors) else os.fspath(self.vectors)

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
        """The given vectors as they were read; n-grams are read where a stage uses them."""
        if isinstance(self.vectors, Vectors):
            return OpenVocabulary(self.vectors)
        path = Path(self.vectors)
        return OpenVocabulary(read_any_vectors(path, memory=memory_limit(self.run)))

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
