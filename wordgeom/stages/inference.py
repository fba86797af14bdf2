"""The frame of the stages that infer further vectors from given ones: `extend` and `impute`."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from wordgeom.core.formatting import several
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.stage import Job, Outcome, Stage
from wordgeom.vectors.finite import nonfinite_notes
from wordgeom.vectors.keyed import Vectors, read_vectors

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
    def named(self) -> str:
        """What messages call the given vectors."""
        return "the vectors" if isinstance(self.vectors, Vectors) else os.fspath(self.vectors)

    @cached_property
    def base(self) -> Vectors:
        """The given vectors. Raises what `read_vectors` raises."""
        return (
            self.vectors if isinstance(self.vectors, Vectors) else read_vectors(Path(self.vectors))
        )

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
    """Return notes on words that a file repeats, and on vectors that are not finite."""
    notes = nonfinite_notes(vectors.words, vectors.matrix, named)
    if vectors.duplicates:
        repeated = several(vectors.duplicates, "repeated word", "repeated words")
        notes.insert(0, f"{named}: {repeated} ignored")
    return notes
