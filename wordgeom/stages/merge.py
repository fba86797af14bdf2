"""The stage that adds up count matrices: the shards of one count, or counts of several texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from wordgeom.checkpoint.matrix_rows import MatrixRows
from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import several
from wordgeom.core.requests import differing_option, request_of
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.counts.windows import WindowOptions
from wordgeom.matrices.cooccurrence import COOC, StoredMatrix
from wordgeom.matrices.count_request import made_options
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.stages.count_matrix import (
    count_type,
    counting_room,
    matrix_shape,
    rows_at_once,
    write_rows,
    write_sums,
)
from wordgeom.stages.stage import Job, Outcome
from wordgeom.stages.store_stage import StoreStage
from wordgeom.storage.store import Store

_SAME_WORDS = "count each text with the same --read-vocab"
_SAME_OPTIONS = "count every shard from the same text with the same options"
_OWN = ("shape", "stored", "shard")  # attributes that a sum does not inherit


@dataclass(frozen=True)
class Sum:
    """What the sum of several matrices consists of."""

    vocabulary: Vocabulary
    request: dict[str, Any]
    attributes: dict[str, Any]


@dataclass(frozen=True)
class Merge(StoreStage):
    """Add up count matrices over the same words."""

    paths: tuple[str, ...]
    out: Path
    run: RunOptions
    resume: ResumeOptions = field(default_factory=ResumeOptions)

    kind: ClassVar[str] = COOC

    @cached_property
    def matrices(self) -> list[StoredMatrix]:
        """The matrices to add. Raises OptionError for fewer than two."""
        if len(self.paths) < 2:
            raise OptionError("merge needs at least two matrices", do="name two or more")
        return [StoredMatrix.open(path, (COOC,)) for path in self.paths]

    @property
    def input_paths(self) -> tuple[str, ...]:
        """The matrices."""
        return self.paths

    @cached_property
    def sum(self) -> Sum:
        """What they add up to. Raises InputError for matrices that cannot be added."""
        return _sum_of(self.matrices)

    @cached_property
    def request(self) -> dict[str, Any]:
        """The request of the sum, which for shards is that of a whole count, and the matrices."""
        return {**self.sum.request, "matrices": [m.store.digest for m in self.matrices]}

    def difference(self, made: Store) -> str | None:
        """Return how a store that exists differs from the sum."""
        return None if made.request == self.sum.request else "was made from other matrices"

    def work(self, job: Job) -> Outcome:
        """Add up all rows, and commit the store."""
        from wordgeom.counts.merge import merge

        matrices, total, context = self.matrices, self.sum, job.context
        words = len(total.vocabulary)
        window = WindowOptions.take(made_options(total.request))
        dtype = count_type(total.vocabulary, window)
        with MatrixRows(job.checkpoint, self.out, COOC) as rows:
            entries = rows_at_once(counting_room(words, context), dtype, context)
            rows.begin(total.vocabulary, dtype)
            symmetric = matrices[0].symmetric
            done = rows.done
            added, shop = merge(matrices, words, symmetric, dtype, context.pool, done, entries)
            write_sums(rows.writer, *write_rows(added, shop, rows, context), window)
            made = rows.writer.commit(rows.finish(total.attributes), job.card(total.request))
        counts = several(len(matrices), "matrix", "matrices")
        summary = f"{made.path}: {matrix_shape(made)} from {counts}; {job.seconds()}"
        return Outcome(summary, self.out, value=made)


def _sum_of(matrices: list[StoredMatrix]) -> Sum:
    """Check that matrices can be added, and return their sum."""
    _check_addable(matrices)
    first = matrices[0]
    shards = [m.store.attributes.get("shard") for m in matrices]
    attributes = {k: v for k, v in first.store.attributes.items() if k not in _OWN}
    if any(shards):
        _check_shards(matrices, shards)
        return Sum(first.vocabulary, first.store.request, attributes)
    for name in ("tokens", "kept", "documents"):
        attributes[name] = sum(m.store.attributes[name] for m in matrices)
    counts = sum((m.vocabulary.counts for m in matrices), np.zeros(len(first.vocabulary), np.int64))
    digests = (m.store.digest for m in matrices)
    request = request_of("merge", first.store.request["options"], digests)
    return Sum(Vocabulary(first.vocabulary.words, counts), request, attributes)


def _check_addable(matrices: list[StoredMatrix]) -> None:
    """Raise InputError for a matrix that does not match the others."""
    for matrix in matrices:
        if matrix.store.request["command"] == "convert":
            do = "merge counts that wordgeom made"
            raise InputError("was imported; its window is unknown", where=matrix.path, do=do)
    for other in matrices[1:]:
        _check_alike(matrices[0], other)
    # Different texts can have equal counts: their digests distinguish them.
    made_of = [(m.store.digest, _input_digests(m)) for m in matrices]
    for k, made in enumerate(made_of):
        if made in made_of[:k]:
            first, again = matrices[made_of.index(made)].path, matrices[k].path
            what = "is given twice" if again == first else f"has the same counts as {first}"
            raise InputError(what, where=again, do="name each matrix once")


def _input_digests(matrix: StoredMatrix) -> list[str]:
    return [i["digest"] for i in matrix.store.request["inputs"]]


def _check_alike(first: StoredMatrix, other: StoredMatrix) -> None:
    _check_vocabulary(first, other)
    mine, theirs = (WindowOptions.take(made_options(m.store.request)) for m in (first, other))
    how = differing_option(mine.result_options(), theirs.result_options())
    if how is not None:
        do = "count both with the same window"
        raise InputError(f"differs from {first.path}: it {how}", where=other.path, do=do)


def _check_vocabulary(first: StoredMatrix, other: StoredMatrix) -> None:
    """Raise InputError where the words of two matrices differ, naming the first difference."""
    ours, theirs = first.vocabulary.words, other.vocabulary.words
    if theirs == ours:
        return
    if first.store.attributes.get("shard") and other.store.attributes.get("shard"):
        what = f"was counted from another text or with other options than {first.path}"
        raise InputError(what, where=other.path, do=_SAME_OPTIONS)
    what, do = f"its vocabulary differs from that of {first.path}", _SAME_WORDS
    if len(ours) != len(theirs):
        found = f"{len(theirs):,} words, not {len(ours):,}"
    elif set(ours) == set(theirs):
        found = "the same words in another order"
    else:
        row = next(k for k, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b)
        found = f"{theirs[row]!r} as word {row + 1:,}, not {ours[row]!r}"
    raise InputError(f"{what}: {found}", where=other.path, do=do)


def _check_shards(matrices: list[StoredMatrix], shards: list[list[int] | None]) -> None:
    first = matrices[0]
    for matrix, shard in zip(matrices, shards, strict=True):
        if shard is None or shards[0] is None or shard[1] != shards[0][1]:
            found = f"shard {shard[0]} of {shard[1]}" if shard else "a whole count"
            do = "name all shards of one count and nothing else"
            what = f"is {found}, not a shard of the same count"
            raise InputError(what, where=matrix.path, do=do)
        mine, theirs = ({**m.store.request, "inputs": []} for m in (first, matrix))
        if mine != theirs or _input_digests(first) != _input_digests(matrix):
            what = f"was counted from another text or with other options than {first.path}"
            raise InputError(what, where=matrix.path, do=_SAME_OPTIONS)
    have = {shard[0] for shard in shards if shard}
    of = shards[0][1] if shards[0] else 0
    missing = [str(k) for k in range(1, of + 1) if k not in have]
    if missing or len(shards) != of:
        which = f"shard {', '.join(missing[:10])} of {of} is missing"
        what = which if missing else f"one of {of} shards is given twice"
        raise InputError(what, where="merge", do="name each shard once")
