"""A model: the directory of arrays that a method makes, and vectors written beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from wordgeom import methods
from wordgeom.core.errors import MissingInputError, OptionError
from wordgeom.core.requests import difference, different_content, request_of
from wordgeom.corpus.vocabulary import vocabulary_bytes
from wordgeom.matrices.kinds import noun
from wordgeom.methods.contract import Export, Result
from wordgeom.runtime.provenance import Clock, card
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.artefacts.artefact import CHECKED, Artefact
from wordgeom.stages.artefacts.output import MethodOutput, Target
from wordgeom.stages.stage import Job, Outcome
from wordgeom.stages.store_stage import existing
from wordgeom.storage import store
from wordgeom.storage.disk_space import Space
from wordgeom.storage.store import Store, StoreWriter
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors, vectors_space, writable_words

VOCABULARY = "vocab"


def open_model(path: str | os.PathLike[str]) -> Any:
    """Open a model as its method does; raises MissingInputError, FormatError."""
    method = _method_of(Store.open(path))
    opened = getattr(method, "open_model", Store.open)
    return opened(path)


class ModelOutput(MethodOutput):
    """The model of a method, as a store of its name, and the vectors that it exports."""

    is_store: ClassVar[bool] = True

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        if self.path.name in ("", ".."):  # names a directory without saying its name
            self.path = Path(os.path.abspath(self.path))
        exports = getattr(target.method, "exports", None)
        asked: Sequence[Export] = [] if exports is None else exports(target.options)
        self._exports = {
            self.path.with_name(f"{self.path.name}-{one.name}.bin"): one for one in asked
        }
        self._words = target.first.rows
        for path in self._exports:
            self._words = writable_words(
                path, target.first.rows, space=target.settings.get("space")
            )  # fmt: skip

    @property
    def exported(self) -> Sequence[Path]:
        """The exported vectors."""
        return tuple(self._exports)

    @property
    def options(self) -> dict[str, Any]:
        """Nothing: the settings concern the exported vectors alone."""
        return {}

    def up_to_date(self, request: Mapping[str, Any], run: RunOptions) -> Outcome | None:
        """Return the model if it exists as requested, after writing missing exports."""
        if run.force or not store.exists(self.path):
            for path in self._exports:
                if path.exists() and not run.force:
                    raise different_content(path, "contains vectors of another model")
            return None

        def different(made: Store) -> str | None:
            return difference(request, made.request, "matrix or file of words")

        made = existing(self.path, self.target.name, different)
        return self._exported(made, request, run)

    @property
    def space(self) -> Space:
        """The size of the model, and of the exported vectors."""
        words = self.target.first.rows
        size = getattr(self.target.method, "model_bytes", None)
        made = Space() if size is None else Space(0, size(self.target.first, self.target.options))
        exports = (vectors_space(path, len(words), self.dimension, words) for path in self.exported)
        return sum(exports, made)

    def open(self) -> AbstractContextManager[StoreWriter]:
        """Hold the store, locked."""
        return StoreWriter(self.path, self.target.name)

    def write(
        self, opened: StoreWriter, result: Result, job: Job, request: Mapping[str, Any],
        run: RunOptions,
    ) -> Outcome:  # fmt: skip
        """Write the arrays, the words and the run card, then the exported vectors."""
        for name, array in result.arrays.items():
            opened.array(name, array.dtype).write(array.ravel())
        opened.text(VOCABULARY, vocabulary_bytes(self.target.first.vocabulary))
        attributes = dict(result.attributes)
        if "shape" not in attributes:
            shapes = {name: list(array.shape) for name, array in result.arrays.items()}
            attributes["shapes"] = shapes
        made = job.card(request, result)
        if self.target.first.path is not None:
            made["parent"] = os.path.relpath(self.target.first.path, self.path)
        opened.commit(attributes, made)
        what = result.summary or f"{len(result.arrays)} arrays by {self.target.name}"
        summary = f"{self.path}: {what}; {job.seconds()}"
        outcome = Outcome(summary, self.path, result.notes, [], result.statistics, result.status)
        return self._exported(outcome, request, run)

    def _exported(self, outcome: Outcome, request: Mapping[str, Any], run: RunOptions) -> Outcome:
        """Return the outcome with the opened model and the exports, written where missing."""
        outcome.value = model = open_model(self.path)
        for path, export in self._exports.items():
            with run_card.writer_lock(path):
                outcome.lines.append(self._export(path, export, model, request, run))
            if note := export.note(model, path):
                outcome.notes.append(note)
        return outcome

    def _export(
        self, path: Path, export: Export, model: Any, request: Mapping[str, Any], run: RunOptions
    ) -> str:
        clock = Clock()
        rows = self.target.first.rows
        space = None if self._words == rows else self.target.settings.get("space")
        options = {**request["options"], **export.options, "space": space}
        asked = request_of("train", options, [Store.open(self.path).digest])
        if run_card.up_to_date(path, asked, run.force, "model"):
            return f"{path}: up to date"
        vectors = Vectors(self._words, export.vectors(model))
        run_card.write(path, vectors, card(asked, export.statistics, clock.seconds()))
        shape = " × ".join(f"{n:,}" for n in vectors.matrix.shape)
        return f"{path}: {shape}; {clock.seconds():.1f} s"


class ModelDirectory(Artefact):
    """A model that exists."""

    def describe(self, *, check: bool) -> dict[str, Any]:
        """Return what its method says of it, its parts and its run card."""
        held = Store.open(self.path)
        facts: dict[str, Any] = {"path": str(self.path), "kind": held.kind, "digest": held.digest}
        describe = getattr(_method_of(held), "describe", None)
        facts |= {} if describe is None else describe(held)
        if check:
            held.check()
            facts["checked"] = CHECKED
        return facts | {"attributes": held.attributes, "parts": held.parts(), "run": held.card}

    def check_convertible(self) -> None:
        """Raise OptionError: a model is not a matrix, nor one file of vectors.

        A store that no method made raises MissingInputError.
        """
        held = Store.open(self.path)
        method = _method_of(held)
        if method is None:
            what, do = f"is {noun(held.kind)}, not a matrix", "pass a matrix or vectors"
            raise MissingInputError(what, where=self.path, do=do)
        advice = getattr(method, "convert_advice", None)
        do = "" if advice is None else advice(self.path)
        raise OptionError(f"is a {held.kind} model, not vectors", where=self.path, do=do)


def _method_of(held: Store) -> ModuleType | None:
    """Return the method whose models have the kind of a store, None where there is none."""
    return methods.load(held.kind) if held.kind in methods.names() else None
