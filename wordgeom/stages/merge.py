"""The stage that adds up count matrices: all shards of one count, or counts of several texts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from wordgeom.checkpoint.matrix_rows import KeptRows
from wordgeom.checkpoint.state import Kept, ResumeOptions, state_folder
from wordgeom.core import requests
from wordgeom.core.errors import InputError
from wordgeom.core.formatting import several
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.counts.windows import WindowOptions
from wordgeom.linalg.device import open_context
from wordgeom.matrices.cooccurrence import COOC, StoredMatrix
from wordgeom.matrices.count_request import made_options
from wordgeom.runtime import provenance
from wordgeom.runtime.provenance import Clock
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.build_cooc import (
    all_sums,
    check_words,
    count_type,
    shape_told,
    write_rows,
    write_sums,
)
from wordgeom.stages.counting import Built, readable, up_to_date
from wordgeom.storage import store

_NO_RESUME = ResumeOptions()
_OWN = ("shape", "stored", "shard")  # attributes that a sum does not inherit


def merge_cooc(
    paths: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    run: RunOptions,
    *,
    resume: ResumeOptions = _NO_RESUME,
    show: bool = False,
) -> Built:
    """Add up count matrices over the same words: all shards of one count, or whole matrices.

    Raises InputError for matrices that cannot be added, OutputExistsError for other output, and
    what reading and writing raise.
    """
    from wordgeom.counts.merge import merge

    clock = Clock()
    matrices = [StoredMatrix.open(path, (COOC,)) for path in paths]
    vocabulary, request, attributes = _merged(matrices)
    if not run.force and store.exists(out):
        made = readable(out, COOC)
        if made.request == request:
            return up_to_date(made, _kept_request(request, matrices))
        raise requests.different_content(out, "made from other matrices")
    window = WindowOptions.take(made_options(request))
    dtype = count_type(vocabulary, window)
    kept = Kept(state_folder(out), _kept_request(request, matrices), resume, force=run.force)
    with (
        kept.stoppable(),
        open_context(run, show=show) as context,
        KeptRows(kept, out, COOC) as rows,
    ):
        symmetric, words = matrices[0].symmetric, len(vocabulary)
        check_words(words, context)
        rows.begin(vocabulary, dtype)
        added, shop = merge(matrices, words, symmetric, dtype, context.pool, rows.done)
        write_rows(added, rows, context, words)
        write_sums(rows.writer, *all_sums(shop, rows), window)
        card = provenance.card(request, {}, clock.seconds())
        made = rows.writer.commit(rows.finish(attributes), card)
    kept.remove()
    counts = several(len(matrices), "matrix", "matrices")
    summary = f"{made.path}: {shape_told(made)} from {counts}; {clock.seconds():.1f} s"
    return Built(made, summary)


def _kept_request(request: dict[str, Any], matrices: list[StoredMatrix]) -> dict[str, Any]:
    """Return whose state it is: merged shards have the request of a whole count."""
    return {**request, "matrices": [m.store.digest for m in matrices]}


def _merged(
    matrices: list[StoredMatrix],
) -> tuple[Vocabulary, dict[str, Any], dict[str, Any]]:
    """Check that matrices can be added; return vocabulary, request and attributes of the sum."""
    _refuse_other(matrices)
    first = matrices[0]
    shards = [m.store.attributes.get("shard") for m in matrices]
    attributes = {k: v for k, v in first.store.attributes.items() if k not in _OWN}
    if any(shards):
        _check_shards(matrices, shards)
        return first.vocabulary, first.store.request, attributes
    for name in ("tokens", "kept", "documents"):
        attributes[name] = sum(m.store.attributes[name] for m in matrices)
    counts = sum((m.vocabulary.counts for m in matrices), np.zeros(len(first.vocabulary), np.int64))
    request = {
        "command": "merge",
        "options": first.store.request["options"],
        "inputs": [{"digest": m.store.digest} for m in matrices],
    }
    return Vocabulary(first.vocabulary.words, counts), request, attributes


def _refuse_other(matrices: list[StoredMatrix]) -> None:
    """Raise InputError for fewer than two matrices, or one that cannot be added to the others."""
    if len(matrices) < 2:
        raise InputError("needs two matrices or more", where="merge", found=len(matrices))
    for matrix in matrices:
        if matrix.store.request["command"] == "convert":
            do = "merge counts that wordgeom made"
            raise InputError("was imported: its window is not known", where=matrix.path, do=do)
    for other in matrices[1:]:
        _check_alike(matrices[0], other)
    # Other texts may have equal counts: what was counted tells them apart.
    made_of = [(m.store.digest, _input_digests(m)) for m in matrices]
    for k, made in enumerate(made_of):
        if made in made_of[:k]:
            do = "name each matrix once"
            raise InputError("is given twice", where=matrices[k].path, do=do)


def _input_digests(matrix: StoredMatrix) -> list[str]:
    return [i["digest"] for i in matrix.store.request["inputs"]]


def _check_alike(first: StoredMatrix, other: StoredMatrix) -> None:
    if other.vocabulary.words != first.vocabulary.words:
        raise InputError(
            f"has other words than {first.path}",
            where=other.path,
            found=f"{len(other.vocabulary):,} words against {len(first.vocabulary):,}",
            do="count each text with --read-vocab and one word list",
        )
    mine, theirs = (WindowOptions.take(made_options(m.store.request)) for m in (first, other))
    how = requests.differing_option(mine.result_options(), theirs.result_options())
    if how is not None:
        do = "count both with the same window"
        raise InputError(f"differs from {first.path}", where=other.path, found=how, do=do)


def _check_shards(matrices: list[StoredMatrix], shards: list[list[int] | None]) -> None:
    first = matrices[0]
    for matrix, shard in zip(matrices, shards, strict=True):
        if shard is None or shards[0] is None or shard[1] != shards[0][1]:
            found = f"shard {shard[0]} of {shard[1]}" if shard else "a whole count"
            do = "merge all shards of one count"
            raise InputError(
                "is not a shard of the same count", where=matrix.path, found=found, do=do
            )
        mine, theirs = ({**m.store.request, "inputs": []} for m in (first, matrix))
        if mine != theirs or _input_digests(first) != _input_digests(matrix):
            what = f"counts other text or with other options than {first.path}"
            raise InputError(what, where=matrix.path, do="count every shard alike")
    have = {shard[0] for shard in shards if shard}
    of = shards[0][1] if shards[0] else 0
    missing = [str(k) for k in range(1, of + 1) if k not in have]
    if missing or len(shards) != of:
        found = f"shards {', '.join(missing[:10])} of {of} missing" if missing else "a shard twice"
        do = "name each shard once"
        raise InputError("not every shard is there once", where=first.path, found=found, do=do)
