"""A vectors file, with its run card and, for methods that make them, document vectors beside it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from wordgeom.core.types import Array, Float32
from wordgeom.formats.fasttext import has_ngrams, is_fasttext
from wordgeom.formats.shared_ngrams import check_no_model, check_other_readers
from wordgeom.formats.vector_files import files_of, read_any_vectors
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.methods.contract import Result
from wordgeom.methods.inputs.stores import OpenStore
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.artefacts.artefact import CHECKED, FREQUENT, Artefact
from wordgeom.stages.artefacts.document_vectors import (
    check_absent,
    check_place,
    document_names,
)
from wordgeom.stages.artefacts.output import MethodOutput, Target
from wordgeom.stages.stage import Job, Outcome
from wordgeom.stages.store_stage import own_store
from wordgeom.storage.disk_space import Space
from wordgeom.storage.store import Store
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.open_vocabulary import missing_note, number_of
from wordgeom.subwords.options import wants_subwords
from wordgeom.subwords.stored import KIND, find_model, lost_model, model_path, model_writer
from wordgeom.texts.corpus_record import corpus_facts
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors, vector_writer, vectors_space, writable_words
from wordgeom.vectors.zeros import undirected_notes

DOCUMENTS = "documents"  # of Result.arrays: the documents' vectors (n × K) float32


@dataclass(frozen=True)
class MadeVectors:
    """Vectors that were computed; documents: their vectors (n × K) float32; subwords: n-grams."""

    vectors: Vectors
    documents: Float32 | None = None
    subwords: SubwordModel | None = None


def outcome_of(
    result: Result, words: list[str], path: Path | None, method: str, job: Job
) -> Outcome:
    """Return the outcome of vectors, written to `path` or nowhere."""
    vectors, documents = Vectors(words, result.vectors), result.arrays.get(DOCUMENTS)
    shape = " × ".join(f"{n:,}" for n in result.vectors.shape)
    model = result.subwords
    ngrams = "" if model is None else f", {number_of(model)}"
    summary = f"{path or 'vectors'}: {shape} by {method}{ngrams}; {job.seconds()}"
    made = MadeVectors(vectors, documents, model)
    return Outcome(summary, path, result.notes, [], result.statistics, result.status, made)


class VectorsOutput(MethodOutput):
    """The vectors file of a method."""

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        space, rows = target.settings.get("space"), target.first.rows
        self.words = writable_words(self.path, rows, space=space)
        # Where no name contains white space, --space changes nothing.
        self._spaced = self.words != rows
        self._beside: Path | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The replacement of white space, where there is any."""
        return {"space": self.target.settings.get("space") if self._spaced else None}

    def up_to_date(self, request: Mapping[str, Any], run: RunOptions) -> Outcome | None:
        """Return the outcome where all files are what is asked for."""
        beside = [] if self._beside is None else [self._beside]
        whole = run_card.up_to_date(self.path, request, run.force, beside=beside)
        if wants_subwords(self.target.options):
            if not whole:
                check_other_readers(self.path)
            whole &= own_store(model_path(self.path), KIND, request, run.force)
        else:
            check_no_model(self.path, force=run.force)
        if whole:
            return Outcome(f"{self.path}: up to date", self.path)
        if self._beside is not None:
            check_absent(self._beside, force=run.force)
        return None

    @property
    def space(self) -> Space:
        """The size of the vectors of words."""
        return vectors_space(self.path, len(self.words), self.dimension, self.words)

    def open(self) -> AbstractContextManager[None]:
        """Hold nothing: files take their names together at the end."""
        return nullcontext()

    def write(
        self, opened: None, result: Result, job: Job, request: Mapping[str, Any], run: RunOptions
    ) -> Outcome:
        """Write all files and the run card that covers them, or none. Raises WriteError."""
        card = job.card(request, result)
        if isinstance(self.target.first, OpenStore):
            card |= corpus_facts(self.target.first.stored.store)
        parts = {
            self.path: vector_writer(self.path, self.words, result.vectors),
            **self._others(result),
        }
        made = Vectors(self.words, result.vectors)
        with model_writer(self.path, result.subwords, made, card) as ready:
            run_card.write_together(self.path, parts, lambda: card, ready)
        return outcome_of(result, self.words, self.path, self.target.name, job)

    def _others(self, result: Result) -> dict[Path, Callable[[BinaryIO], object]]:
        """Return the files written with the vectors, and what fills each."""
        return {}


class DocumentVectorsOutput(VectorsOutput):
    """The vectors file of a method that also makes document vectors (`--documents`)."""

    settings: ClassVar[tuple[str, ...]] = (DOCUMENTS,)

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        given = target.settings.get(DOCUMENTS)
        if given is None:
            return
        stored = target.first.stored  # type: ignore[attr-defined]
        assert isinstance(stored, StoredDocuments)
        self._beside = Path(given)
        check_place(self.path, self._beside)
        found = document_names(stored, target.settings.get("space"))
        self._names, self.notes = found.names, tuple(found.notes)
        self._spaced = self._spaced or found.spaced

    @property
    def options(self) -> dict[str, Any]:
        """The replacement of white space, and where the documents' vectors are."""
        beside = self._beside
        where = None if beside is None else os.path.relpath(beside, self.path.parent)
        return {**super().options, DOCUMENTS: where}

    @property
    def space(self) -> Space:
        """The size of the vectors of words and of documents."""
        if self._beside is None:
            return super().space
        names = self._names
        return super().space + vectors_space(self._beside, len(names), self.dimension, names)

    def _others(self, result: Result) -> dict[Path, Callable[[BinaryIO], object]]:
        if self._beside is None:
            return {}
        matrix: Array = result.arrays[DOCUMENTS]
        return {self._beside: vector_writer(self._beside, self._names, matrix)}


class VectorsFile(Artefact):
    """A vectors file that exists, or a projector directory."""

    def describe(self, *, check: bool) -> dict[str, Any]:
        """Return what the file holds and how it was made."""
        vectors = read_any_vectors(self.path)
        rows, columns = vectors.matrix.shape
        digest = run_card.joint_digest(files_of(self.path))
        facts: dict[str, Any] = {"path": str(self.path), "kind": "vectors", "digest": digest}
        facts |= {"words": rows, "dimension": columns, "first words": vectors.words[:FREQUENT]}
        if vectors.duplicates:
            facts["repeated words left out"] = vectors.duplicates
        ngrams, missing = _ngrams(self.path, vectors, check=check)
        facts |= ngrams
        if notes := [*undirected_notes(vectors.words, vectors.matrix), *missing]:
            facts["notes"] = notes
        card = run_card.read_card(files_of(self.path)[0])
        if check and card is not None:
            facts["checked"] = CHECKED
        return facts | {"run": card if card is not None else "no run card matches this file"}


def _ngrams(path: Path, vectors: Vectors, *, check: bool) -> tuple[dict[str, Any], list[str]]:
    """Return facts of the n-grams of vectors, and a note where they are missing.

    check: whether to verify their store. Raises what `read_model` raises.
    """
    if is_fasttext(path):
        return ({"n-grams": "in the file"} if has_ngrams(path) else {}), []
    model = find_model(path, vectors)
    if model is None:
        return {}, missing_note(lost_model(path))
    beside = model_path(path)
    if check:
        Store.open(beside).check()
    lengths = f"{model.lengths.low}-{model.lengths.high}"
    facts = {"store": str(beside), "number": len(model.vectors), "unit": model.name}
    return {"n-grams": facts | {"lengths": lengths}}, []
