"""The stage that combines matrices: sums, differences and unions of counts, and more documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from wordgeom.core.errors import OptionError
from wordgeom.corpus.shard_range import ShardRange
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.counts.merge_options import MergeOptions
from wordgeom.matrices.cooccurrence import COOC, StoredMatrix
from wordgeom.matrices.document_term import Stored, StoredDocuments
from wordgeom.matrices.kinds import DTM, VOCABULARY
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.stages.merging.combination import Combination
from wordgeom.stages.merging.documents import AppendedDocuments
from wordgeom.stages.merging.sums import combined_counts
from wordgeom.stages.merging.vocabularies import MergedVocabulary, StoredVocabulary
from wordgeom.stages.stage import Job, Outcome
from wordgeom.stages.store_stage import StoreStage
from wordgeom.storage.disk_space import Demand
from wordgeom.storage.store import Store

_MANY = {VOCABULARY: "vocabularies", DTM: "document-term matrices"}


@dataclass(frozen=True)
class Merge(StoreStage):
    """Combine count matrices, or document-term matrices; named: whether `out` was given."""

    paths: tuple[str, ...]
    out: Path
    run: RunOptions
    resume: ResumeOptions = field(default_factory=ResumeOptions)
    options: MergeOptions = field(default_factory=MergeOptions)
    named: bool = True

    @cached_property
    def matrices(self) -> Sequence[Stored | StoredVocabulary]:
        """The matrices. Raises OptionError for fewer than two."""
        first = _opened(self.paths[0]) if self.paths else None
        if first is None or len(self.paths) < 2:
            raise OptionError("merge needs at least two matrices", do="name two or more")
        return [first, *(_sharing_words(_opened(path), first) for path in self.paths[1:])]

    @property
    def kind(self) -> str:
        """That of the matrices."""
        return self.matrices[0].store.kind

    @property
    def input_paths(self) -> tuple[str, ...]:
        """The matrices."""
        return self.paths

    @cached_property
    def combined(self) -> Combination:
        """What they are combined into. Raises InputError, OptionError where they cannot be."""
        if not self.named and (self.options.part or self.kind != COOC):
            many = _MANY.get(self.kind, "shards merged with --part")
            raise OptionError(f"{many} need the name of an output", do="name a directory with -o")
        if self.kind == COOC:
            return combined_counts(self.matrices, self.options)
        if self.kind == VOCABULARY:
            return MergedVocabulary.of(self.matrices, self.options)
        return AppendedDocuments.of(self.matrices, self.options)

    @cached_property
    def request(self) -> dict[str, Any]:
        """The request of the result, and the matrices."""
        return {**self.combined.request, "matrices": [m.store.digest for m in self.matrices]}

    @property
    def demand(self) -> Demand:
        """The disk space of the combination."""
        return self.combined.demand

    def difference(self, made: Store) -> str | None:
        """Return how a store that exists differs from the result."""
        if made.request != self.combined.request:
            return "was made from other matrices"
        # Shards that have each read the whole text have one request.
        same = ShardRange.read(made.attributes) == self.combined.covered
        return None if same else "holds other shards"

    def work(self, job: Job) -> Outcome:
        """Combine all rows, and commit the store."""
        made = self.combined.write(self.out, job)
        summary = f"{made.path}: {self.combined.summary(made)}; {job.seconds()}"
        return Outcome(summary, self.out, value=made)


def _sharing_words(
    matrix: Stored | StoredVocabulary, first: Stored | StoredVocabulary
) -> Stored | StoredVocabulary:
    """Return counts with the list of words of the first ones if these are the same words.

    Each list takes some 100 bytes a word, and there may be many shards.
    """
    if not isinstance(matrix, StoredMatrix) or matrix.vocabulary.words != first.vocabulary.words:
        return matrix
    shared = Vocabulary(first.vocabulary.words, matrix.vocabulary.counts)
    return replace(matrix, vocabulary=shared)


def _opened(path: str) -> Stored | StoredVocabulary:
    """Open counts, a document-term matrix, or words, shards too; raises what opening raises."""
    kind = Store.open(path).kind
    if kind == DTM:
        return StoredDocuments.open(path)
    if kind == VOCABULARY:
        return StoredVocabulary(Store.open(path))
    return StoredMatrix.open(path, (COOC,))
