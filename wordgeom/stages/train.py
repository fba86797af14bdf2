"""The stages after counting: a weighted matrix on the disk, and vectors by a method."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from wordgeom import methods
from wordgeom.checkpoint.matrix_rows import KeptRows
from wordgeom.checkpoint.method_state import StoredCheckpoint
from wordgeom.checkpoint.state import Kept, ResumeOptions, forget, state_folder
from wordgeom.core.errors import InputError, OptionError, RankError, StaleError
from wordgeom.core.formatting import plural
from wordgeom.core.options import Options, flag, specs
from wordgeom.core.types import Array, Checkpoint
from wordgeom.linalg.device import open_context
from wordgeom.linalg.options import DeviceOptions
from wordgeom.matrices.cooccurrence import COOC, PMI, StoredMatrix
from wordgeom.matrices.document_term import Stored, open_stored
from wordgeom.methods.contract import Result
from wordgeom.runtime import provenance
from wordgeom.runtime.context import Context
from wordgeom.runtime.provenance import Clock
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.counting import Built, readable, up_to_date
from wordgeom.stages.method_inputs import maker, makes_model, settings_of, source_of
from wordgeom.stages.train_output import DOCUMENTS, Output
from wordgeom.storage import store
from wordgeom.storage.store import Store
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors
from wordgeom.weighting.options import NPMI, PmiOptions
from wordgeom.weighting.pmi import WeightedMatrix
from wordgeom.weighting.stored import weighted

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
        run_card.check_same_request(out, request, made.request)
        return up_to_date(made, request)
    kept = Kept(state_folder(out), request, resume, force=run.force)
    with (
        kept.stoppable(),
        open_context(run, show=show) as context,
        KeptRows(kept, out, PMI) as rows,
    ):
        _write_weighted(WeightedMatrix(matrix, options, context.pool), rows, context)
        attributes = rows.finish({"triangle": "upper" if matrix.symmetric else ""})
        parent = os.path.relpath(matrix.path, out)
        card = provenance.card(request, {}, clock.seconds()) | {"parent": parent}
        made = rows.writer.commit(attributes, card)
    kept.remove()
    at = made.attributes
    shape = f"{plural(at['shape'][0], 'word')}, {at['stored']:,} of {plural(matrix.stored, 'pair')}"
    return Built(made, f"{made.path}: {shape}; {clock.seconds():.1f} s")


def _write_weighted(weighted: WeightedMatrix, rows: KeptRows, context: Context) -> None:
    rows.begin(weighted.vocabulary, np.float32)
    for _ in rows.earlier():  # checked, since more is to stand behind them
        pass
    left = [(max(start, rows.done), stop) for start, stop in weighted.row_blocks()]
    ahead = min(2 * context.pool.threads, _AHEAD)
    blocks = context.pool.map(
        lambda b: weighted.rows(*b), [b for b in left if b[0] < b[1]], ahead=ahead
    )
    words = len(weighted.vocabulary)
    followed = context.progress.follow(
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


def open_for(path: str | os.PathLike[str], method: str) -> Stored:
    """Open the folder that a method is to be run on; raises InputError for another kind of it."""
    stored = open_whole(path)
    source = source_of(methods.load(method))
    if stored.store.kind not in source.kinds:
        what, made = f"{method} takes a folder of {source.makers}", maker(stored.store.kind)
        do = f"count the text with wordgeom {maker(source.kinds[0])}"
        raise InputError(what, where=path, found=f"one of {made}", do=do)
    return stored


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
    """Vectors that a method made, or found up to date (then `vectors` is None).

    arrays: what else it made, by name.
    """

    summary: str
    vectors: Vectors | None
    notes: list[str] = field(default_factory=list)
    statistics: dict[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, Array] = field(default_factory=dict)


def train(
    matrix: str | os.PathLike[str],
    method: str,
    values: dict[str, Any],
    run: RunOptions,
    *,
    out: str | os.PathLike[str] | None,
    documents: str | os.PathLike[str] | None = None,
    space: str | None = None,
    show: bool = False,
) -> Trained:
    """Make vectors of `matrix` by `method`, with its options and the weighting's in `values`.

    out: where to write them (.bin, .txt, .vec), None for nowhere; documents: where to write the
    documents' beside them; space: replaces white space in words and documents' names. Raises what
    the method raises, OutputExistsError, InputError.
    """
    clock = Clock()
    work = _Work.of(matrix, method, values)
    output = work.output(out, documents, space)
    request = work.request(run.seed, {} if output is None else output.settings)
    with run_card.writer_lock(out):
        if output is not None and output.up_to_date(request, run.force):
            forget(output.vectors, request)
            return Trained(f"{output.vectors}: up to date", None)
        kept = None
        if output is not None:
            resume = ResumeOptions.take(values)
            kept = Kept(state_folder(output.vectors), request, resume, force=run.force)
        with _stoppable(kept), open_context(run, work.device.device, show=show) as context:
            result = work.fit(context, None if kept is None else StoredCheckpoint(kept))
        if output is not None:
            result.notes += output.notes
            card = provenance.card(request, result.statistics, clock.seconds()) | {
                "notes": result.notes
            }
            output.write(result, card)
        if kept is not None:
            kept.remove()
    words = work.stored.vocabulary.words if output is None else output.words
    shape = " × ".join(f"{n:,}" for n in result.vectors.shape)
    where = "vectors" if out is None else os.fspath(out)
    summary = f"{where}: {shape} by {method}; {clock.seconds():.1f} s"
    return Trained(
        summary, Vectors(words, result.vectors), result.notes, result.statistics, result.arrays
    )


@dataclass(frozen=True)
class _Work:
    """What is to be done: a method with its options, and the folder that it is done to."""

    name: str
    method: ModuleType
    options: Options
    weighting: Options
    device: DeviceOptions
    stored: Stored

    @classmethod
    def of(cls, path: str | os.PathLike[str], name: str, values: dict[str, Any]) -> _Work:
        """Return it from options by name; raises OptionError, InputError, MissingInputError."""
        method = methods.load(name)
        if makes_model(method):
            do = f"run wordgeom train --method {name}"
            raise OptionError(f"{name} makes a model, not vectors", do=do)
        options: Options = method.Options.take(values)
        weighting, device = _weighting(method, options, values), DeviceOptions.take(values)
        stored = open_for(path, name)
        if stored.store.kind == PMI:
            _refuse_weighting(values, path)
        return cls(name, method, options, weighting, device, stored)

    def output(
        self,
        out: str | os.PathLike[str] | None,
        documents: str | os.PathLike[str] | None,
        space: str | None,
    ) -> Output | None:
        """Return where to write, None for nowhere; raises OptionError, MissingInputError."""
        if documents is not None and DOCUMENTS not in settings_of(self.method):
            raise OptionError(f"{self.name} makes no vectors of documents", found="--documents")
        if documents is not None and out is None:
            do = "name a file for them too"
            raise OptionError("documents' vectors are written with those of words", do=do)
        if out is None:
            return None
        beside = None if documents is None else Path(documents)
        return Output.of(Path(out), beside, self.stored, space)

    def request(self, seed: int, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return what decides the content of the output."""
        asked = {"method": self.name, **self.options.result_options()}
        asked |= self.device.result_options()
        if self.stored.store.kind != PMI:
            asked |= self.weighting.result_options()
        inputs = [{"digest": self.stored.store.digest}]
        options = {**asked, "seed": seed, **settings}
        return {"command": "train", "options": options, "inputs": inputs}

    def fit(self, context: Context, checkpoint: Checkpoint | None) -> Result:
        """Run the method; raises what it raises, RankError for vectors that are not finite."""
        (need,) = self.method.NEEDS
        if checkpoint is not None:
            context = replace(context, checkpoint=checkpoint)
        inputs = {need: weighted(self.stored, self.weighting, context.pool)}
        result: Result = self.method.fit(inputs, self.options, context)
        if not all(np.isfinite(made).all() for made in (result.vectors, *result.arrays.values())):
            raise RankError("the vectors are not finite", do="lower --dim, or report this")
        return result


def _weighting(method: ModuleType, options: Options, values: dict[str, Any]) -> Options:
    """Return the weighting that was asked for; what was not given is as the method wants it."""
    wanted = getattr(method, "weighting", None)
    kind = source_of(method).weighting
    if wanted is None or values.get("weighting") == NPMI:  # which takes no such shift
        return kind.take(values)
    return kind.take({**wanted(options), **values})


def _stoppable(kept: Kept | None) -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext() if kept is None else kept.stoppable()


def _refuse_weighting(values: dict[str, Any], matrix: str | os.PathLike[str]) -> None:
    """Refuse the weighting's options for a matrix that has its weights."""
    given = [option.name for option, _ in specs(PmiOptions) if option.name in values]
    if given:
        do = "train on the counts, or weight them again with build-pmi"
        raise OptionError("is weighted already", where=matrix, found=flag(given[0]), do=do)
