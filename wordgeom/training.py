"""The stages after counting: a weighted matrix on the disk, and vectors by a method."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from wordgeom import cards, methods, runs, store
from wordgeom.checkpoints import ResumeOptions, StoredCheckpoint
from wordgeom.device import DeviceOptions, get_ops
from wordgeom.errors import InputError, OptionError, RankError, StaleError
from wordgeom.matrix import MatrixWriter, StoredMatrix
from wordgeom.options import Options, flag, specs
from wordgeom.pipeline import COOC, PMI, Built, readable, up_to_date
from wordgeom.runs import Clock, Resources, RunOptions
from wordgeom.store import Store, StoreWriter
from wordgeom.types import Checkpoint, Matrix, Result, Run
from wordgeom.vectors import Vectors, writable_words
from wordgeom.weighting.pmi import PmiOptions, WeightedMatrix, weighted_store


def build_pmi(
    counts: str | os.PathLike[str],
    out: str | os.PathLike[str],
    options: PmiOptions,
    run: RunOptions,
    *,
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
        return up_to_date(made)
    with runs.resources(run, show) as using, StoreWriter(out, PMI) as writer:
        weighted = WeightedMatrix(matrix, options, using.pool)
        rows = MatrixWriter(writer, matrix.vocabulary, np.float32)
        blocks = using.pool.map(lambda b: weighted.rows(*b), weighted.row_blocks())
        words = len(matrix.vocabulary)
        for block in using.progress.follow(blocks, "weighting", words, "rows", lambda b: b.rows):
            rows.write(np.diff(block.indptr), block.indices, block.data)
        attributes = rows.finish({"triangle": "upper" if matrix.symmetric else ""})
        parent = os.path.relpath(matrix.path, out)
        card = runs.card(request, {}, clock.seconds()) | {"parent": parent}
        made = writer.commit(attributes, card)
    at = made.attributes
    kept = f"{at['stored']:,} of {matrix.stored:,} pairs"
    summary = f"{made.path}: {at['shape'][0]:,} words, {kept}; {clock.seconds():.1f} s"
    return Built(made, summary)


def open_matrix(path: str | os.PathLike[str], kinds: tuple[str, ...] = (COOC, PMI)) -> StoredMatrix:
    """Open a matrix to work with: whole (no shard), not older than what it was made from."""
    matrix = StoredMatrix.open(path, kinds)
    shard = matrix.store.attributes.get("shard")
    if shard is not None:
        do = "put the shards together with wordgeom merge"
        found = f"shard {shard[0]} of {shard[1]}"
        raise InputError("is a part of a matrix", where=path, found=found, do=do)
    _check_parent(matrix.store)
    return matrix


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
    weighting, device = PmiOptions.take(values), DeviceOptions.take(values)
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
            return Trained(f"{os.fspath(out)}: up to date", None)
        checkpoint = None
        if out is not None:
            resume = ResumeOptions.take(values)
            checkpoint = StoredCheckpoint(_state(Path(out)), request, resume, force=run.force)
        with runs.resources(run, show) as using, _told(checkpoint):
            result = _fit(module, options, weighting, device, stored, using, checkpoint)
        vectors = Vectors(words, result.vectors)
        if out is not None:
            card = runs.card(request, result.statistics, clock.seconds()) | {"notes": result.notes}
            cards.write(Path(out), vectors, card)
        if checkpoint is not None:
            checkpoint.remove()
    shape = " × ".join(f"{n:,}" for n in result.vectors.shape)
    where = "vectors" if out is None else os.fspath(out)
    summary = f"{where}: {shape} by {method}; {clock.seconds():.1f} s"
    return Trained(summary, vectors, result.notes, result.statistics)


@contextlib.contextmanager
def _told(checkpoint: StoredCheckpoint | None) -> Iterator[None]:
    """Tell whoever stops the block of the state that was kept."""
    try:
        yield
    except KeyboardInterrupt:
        if checkpoint is not None:
            checkpoint.interrupted()
        raise


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
    run = Run(ops, rng, using.memory, using.progress, checkpoint)
    result: Result = module.fit({"matrix": matrix}, options, run)
    if not np.isfinite(result.vectors).all():
        raise RankError("the vectors are not finite", do="lower --dim, or report this")
    return result


def _state(out: Path) -> Path:
    """Return where the state of a run that makes a vectors file lies."""
    return out.with_name(f".{out.name}.state")
