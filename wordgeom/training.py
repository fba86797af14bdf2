"""The stages after counting: a weighted matrix on the disk, and vectors by a method."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from wordgeom import cards, methods, runs, store
from wordgeom.building import Built, readable, up_to_date
from wordgeom.checkpoints import StoredCheckpoint
from wordgeom.device import DeviceOptions, get_ops
from wordgeom.document_matrix import Stored, open_stored
from wordgeom.errors import InputError, OptionError, RankError, StaleError
from wordgeom.kept import Kept, ResumeOptions, forget, state_folder
from wordgeom.kept_rows import KeptRows
from wordgeom.matrix import COOC, PMI, StoredMatrix
from wordgeom.options import Options, flag, specs
from wordgeom.runs import Clock, Resources, RunOptions
from wordgeom.store import Store
from wordgeom.types import Checkpoint, Matrix, Result, Run
from wordgeom.vectors import Vectors, writable_words
from wordgeom.weighting.pmi import NPMI, PmiOptions, WeightedMatrix, weighted_store
from wordgeom.wording import plural

_NO_RESUME = ResumeOptions()
_AHEAD = 8  # blocks of rows held at most, whatever the threads


def build_pmi(
    counts: str | os.PathLike[str],
    out: str | os.PathLike[str],
    options: PmiOptions,
    run: RunOptions,
    *,
    resume: ResumeOptions = _NO_RESUME,
    show: bool = False,
) -> Built:
    """Weight the counts in the store `counts` into the store `out`."""
    clock = Clock()
    matrix = open_matrix(counts, (COOC,))
    request = {
        "command": "build-pmi",
        "options": options.result_options(),
        "inputs": [{"digest": matrix.store.digest}],
    }
    if not run.force and store.exists(out):
        made = readable(out, PMI)
        cards.refuse_unlike(out, request, made.request)
        return up_to_date(made, request)
    kept = Kept(state_folder(out), request, resume, force=run.force)
    with kept.stoppable(), runs.resources(run, show) as using, KeptRows(kept, out, PMI) as rows:
        _write_weighted(WeightedMatrix(matrix, options, using.pool), rows, using)
        attributes = rows.finish({"triangle": "upper" if matrix.symmetric else ""})
        parent = os.path.relpath(matrix.path, out)
        card = runs.card(request, {}, clock.seconds()) | {"parent": parent}
        made = rows.writer.commit(attributes, card)
    kept.remove()
    at = made.attributes
    shape = f"{plural(at['shape'][0], 'word')}, {at['stored']:,} of {plural(matrix.stored, 'pair')}"
    return Built(made, f"{made.path}: {shape}; {clock.seconds():.1f} s")


def _write_weighted(weighted: WeightedMatrix, rows: KeptRows, using: Resources) -> None:
    rows.begin(weighted.vocabulary, np.float32)
    for _ in rows.earlier():  # checked, since more is to stand behind them
        pass
    left = [(max(start, rows.done), stop) for start, stop in weighted.row_blocks()]
    ahead = min(2 * using.pool.threads, _AHEAD)
    blocks = using.pool.map(
        lambda b: weighted.rows(*b), [b for b in left if b[0] < b[1]], ahead=ahead
    )
    words = len(weighted.vocabulary)
    followed = using.progress.follow(
        blocks, "weighting", words, "rows", lambda b: b.rows, done=rows.done
    )
    rows.write((np.diff(block.indptr), block.indices, block.data) for block in followed)


def open_matrix(path: str | os.PathLike[str], kinds: tuple[str, ...] = (COOC, PMI)) -> StoredMatrix:
    """Open a matrix to work with: whole (no shard), not older than what it was made from."""
    matrix = StoredMatrix.open(path, kinds)
    _check_whole(matrix.store)
    return matrix


def open_whole(path: str | os.PathLike[str]) -> Stored:
    """Open a matrix of any kind as `open_matrix` does."""
    matrix = open_stored(path)
    _check_whole(matrix.store)
    return matrix


def _check_whole(held: Store) -> None:
    shard = held.attributes.get("shard")
    if shard is not None:
        do = "put the shards together with wordgeom merge"
        found = f"shard {shard[0]} of {shard[1]}"
        raise InputError("is a part of a matrix", where=held.path, found=found, do=do)
    _check_parent(held)


def _check_parent(child: Store) -> None:
    """Refuse a matrix whose parent is still there and has other content."""
    parent = child.card.get("parent")
    if not isinstance(parent, str) or not store.exists(child.path / parent):
        return
    folder = Path(os.path.normpath(child.path / parent))
    if [i["digest"] for i in child.request["inputs"]] != [Store.open(folder).digest]:
        raise StaleError(
            f"was made from {folder}, which has changed since",
            where=child.path,
            do=f"make it again: wordgeom build-pmi {folder} -o {child.path} --force",
        )


@dataclass
class Trained:
    """Vectors that a method made, or found up to date (then `vectors` is None)."""

    summary: str
    vectors: Vectors | None
    notes: list[str] = field(default_factory=list)
    statistics: dict[str, Any] = field(default_factory=dict)


def train(
    matrix: str | os.PathLike[str],
    method: str,
    values: dict[str, Any],
    run: RunOptions,
    *,
    out: str | os.PathLike[str] | None,
    space: str | None = None,
    show: bool = False,
) -> Trained:
    """Make vectors of `matrix` by `method`, with its options and the weighting's in `values`.

    out: where to write them (.bin, .txt, .vec), None for nowhere; space: replaces white space in
    words. Raises what the method raises, OutputExistsError, InputError.
    """
    clock = Clock()
    module = methods.load(method)
    options: Options = module.Options.take(values)
    weighting, device = _weighting(module, options, values), DeviceOptions.take(values)
    stored = open_matrix(matrix)
    if stored.store.kind == PMI:
        _refuse_weighting(values, matrix)
    request = _train_request(method, options, weighting, device, stored, run)
    words = stored.vocabulary.words
    if out is not None:
        words = writable_words(Path(out), words, space=space)
        # Where no word holds white space, --space changes nothing.
        request["options"]["space"] = None if words == stored.vocabulary.words else space
    with cards.only_writer(out):
        if out is not None and cards.up_to_date(Path(out), request, run.force):
            forget(out, request)
            return Trained(f"{os.fspath(out)}: up to date", None)
        kept = None
        if out is not None:
            resume = ResumeOptions.take(values)
            kept = Kept(state_folder(out), request, resume, force=run.force)
        with _stoppable(kept), runs.resources(run, show) as using:
            checkpoint = None if kept is None else StoredCheckpoint(kept)
            result = _fit(module, options, weighting, device, stored, using, checkpoint)
        vectors = Vectors(words, result.vectors)
        if out is not None:
            card = runs.card(request, result.statistics, clock.seconds()) | {"notes": result.notes}
            cards.write(Path(out), vectors, card)
        if kept is not None:
            kept.remove()
    shape = " × ".join(f"{n:,}" for n in result.vectors.shape)
    where = "vectors" if out is None else os.fspath(out)
    summary = f"{where}: {shape} by {method}; {clock.seconds():.1f} s"
    return Trained(summary, vectors, result.notes, result.statistics)


def _weighting(module: ModuleType, options: Options, values: dict[str, Any]) -> PmiOptions:
    """Return the weighting that was asked for; what was not given is as the method wants it."""
    wanted = getattr(module, "weighting", None)
    if wanted is None or values.get("weighting") == NPMI:  # which takes no such shift
        return PmiOptions.take(values)
    return PmiOptions.take({**wanted(options), **values})


def _stoppable(kept: Kept | None) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext() if kept is None else kept.stoppable()


def _refuse_weighting(values: dict[str, Any], matrix: str | os.PathLike[str]) -> None:
    """Refuse the weighting's options for a matrix that has its weights."""
    given = [option.name for option, _ in specs(PmiOptions) if option.name in values]
    if given:
        do = "train on the counts, or weight them again with build-pmi"
        raise OptionError("is weighted already", where=matrix, found=flag(given[0]), do=do)


def _train_request(
    method: str,
    options: Options,
    weighting: PmiOptions,
    device: DeviceOptions,
    stored: StoredMatrix,
    run: RunOptions,
) -> dict[str, Any]:
    asked = {"method": method, **options.result_options(), **device.result_options()}
    if stored.store.kind == COOC:
        asked |= weighting.result_options()
    asked["seed"] = run.seed
    inputs = [{"digest": stored.store.digest}]
    return {"command": "train", "options": asked, "inputs": inputs}


def _fit(
    module: ModuleType,
    options: Options,
    weighting: PmiOptions,
    device: DeviceOptions,
    stored: StoredMatrix,
    using: Resources,
    checkpoint: Checkpoint | None,
) -> Result:
    matrix: Matrix
    if stored.store.kind == COOC:
        matrix = WeightedMatrix(stored, weighting, using.pool)
    else:
        matrix = weighted_store(stored, using.pool)
    rng = np.random.default_rng(using.seed)
    ops = get_ops(device.device, using.pool)
    run = Run(ops, rng, using.memory, using.progress, checkpoint, using.folder)
    result: Result = module.fit({"matrix": matrix}, options, run)
    if not np.isfinite(result.vectors).all():
        raise RankError("the vectors are not finite", do="lower --dim, or report this")
    return result
