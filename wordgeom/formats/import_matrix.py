"""Import a file of matrix entries into a store: one pass finds the unit, the next the rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.core.errors import FormatError, InputError, WordgeomError
from wordgeom.core.formatting import several
from wordgeom.core.types import Float64, Int64
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.counts.count_rows import Workspace, value_type
from wordgeom.formats import count_units, detection
from wordgeom.formats.entries import Block, EntryFile
from wordgeom.formats.glove import GloveFile
from wordgeom.formats.matrix_market import MarketFile
from wordgeom.formats.scipy_npz import SparseFile
from wordgeom.formats.symmetry import Triangles
from wordgeom.formats.word_files import WordList
from wordgeom.matrices.cooccurrence import COOC, PMI, MatrixWriter
from wordgeom.runtime.context import Context
from wordgeom.runtime.provenance import Clock, card
from wordgeom.storage.store import Store, StoreWriter
from wordgeom.vectors import run_card

_RECOMPUTED = ("shape", "stored", "triangle", "denominator")  # attributes that import determines
_FLOAT_BITS = np.dtype(np.uint32)
_STORED = ((COOC, "<u4"), (COOC, "<i8"), (PMI, "<f4"))


@dataclass(frozen=True)
class ExportRecord:
    """The run card entry of an exported matrix: kind, attributes and dtype of its data."""

    kind: str
    attributes: Mapping[str, Any]
    dtype: str

    @classmethod
    def read(cls, source: Path, words: Path) -> tuple[ExportRecord | None, list[str]]:
        """Return the record in a file's run card, or a note if the card matches another file."""
        path, card = run_card.card_path(source), run_card.read_card(source)
        if not path.exists():
            return None, []
        record = cls.parse(card)
        if card is None or record is None:
            return None, [f"{path} does not match {source.name} and was ignored"]
        if card.get("words") != run_card.file_content(words):
            return None, [f"{path} does not match the words in {words} and was ignored"]
        return record, []

    @classmethod
    def parse(cls, card: Mapping[str, Any] | None) -> ExportRecord | None:
        """Return the record in a run card, None if the card has no valid one."""
        try:
            facts: Any = (card or {})["matrix"]
            record = cls(facts["kind"], dict(facts["attributes"]), facts["dtype"])
            unit = record.attributes.get("denominator", 1)
            good = type(unit) is int and 1 <= unit <= count_units.FIXED_POINT
            good = good and (record.kind, record.dtype) in _STORED
        except (TypeError, KeyError, ValueError):
            return None
        return record if good else None

    @property
    def denominator(self) -> int:
        """Stored counts are in units of 1/denominator."""
        return int(self.attributes.get("denominator", 1))


@dataclass(frozen=True)
class _Plan:
    """How values are stored: integers in units of 1/denominator, or the bits of floats."""

    kind: str
    denominator: int
    dtype: np.dtype[Any]
    sums: Float64
    notes: tuple[str, ...]


def open_entries(path: Path, form: str, words: int, memory: int) -> EntryFile:
    """Open a file of entries over `words` words. Raises what the format's reader raises."""
    if form == detection.GLOVE:
        return GloveFile(path, words)
    if form == detection.MTX:
        return MarketFile.open(path)
    return SparseFile.open(path, memory)


def import_matrix(
    file: EntryFile,
    words: WordList,
    out: str | os.PathLike[str],
    kind: str,
    record: ExportRecord | None,
    request: Mapping[str, Any],
    context: Context,
) -> tuple[Store, list[str]]:
    """Write the store `out`; return it with notes for the user.

    kind: cooc or pmi; record: from the file's run card. Raises InputError for values that the kind
    cannot store, and what reading and StoreWriter raise.
    """
    clock, size = Clock(), len(words.words)
    _check_shape(file, size)
    plan = _plan(file, size, kind, record, context)
    vocabulary = _vocabulary(words, plan)
    with Triangles(size, file.symmetric, plan.dtype, context) as triangles:
        for row, column, units in _integers(file, plan, context):
            triangles.add(row, column, units)
        if not triangles.entries:
            raise InputError("contains no entry other than 0", where=file.path)
        with StoreWriter(out, kind) as writer:
            rows, shop = _write(triangles, writer, vocabulary, plan, context)
            repeated = triangles.entries - int(rows.lengths.sum())
            if repeated and (record or kind == PMI):
                raise _repeated(repeated, file.path, kind)
            if kind == COOC:
                _write_sums(writer, shop, triangles.symmetric)
            attributes = rows.finish(_attributes(triangles.symmetric, plan, words, record))
            made = writer.commit(attributes, card(request, {}, clock.seconds()))
    return made, [*plan.notes, *_notes(repeated, words, kind, triangles)]


def _check_shape(file: EntryFile, words: int) -> None:
    if file.shape != (words, words):
        found = f"{file.shape[0]:,} × {file.shape[1]:,} for {words:,} words"
        do = "name a file with a word per row with --words"
        if file.shape[0] != file.shape[1]:
            do = "document-term matrices and other non-square matrices cannot be imported"
        raise InputError("must have a row and a column per word", where=file.path, found=found,
                         do=do)  # fmt: skip


def _plan(
    file: EntryFile, size: int, kind: str, record: ExportRecord | None, context: Context
) -> _Plan:
    if kind == PMI:
        return _Plan(PMI, 1, _FLOAT_BITS, np.ones(size), ())
    least = 1 if record is None else record.denominator
    blocks = _with_progress(file, "scanning", context)
    found = count_units.find_units(blocks, size, file.symmetric, file.path, least)
    dtype: np.dtype[Any] = value_type(found.max_count)
    if record and found.denominator == least:
        dtype = np.dtype(record.dtype)
    notes = []
    if found.rounding_error:
        what = f"counts were rounded to multiples of 1/{found.denominator}"
        notes.append(f"{what}, with a relative error of at most {found.rounding_error:.1g}")
    return _Plan(COOC, found.denominator, dtype, found.sums, tuple(notes))


def _integers(
    file: EntryFile, plan: _Plan, context: Context
) -> Iterator[tuple[Int64, Int64, Int64]]:
    """Yield row and column indices with the integers to store."""
    for row, column, values in _with_progress(file, "reading", context):
        if plan.kind == PMI:
            yield row, column, count_units.to_bits(row, column, values, file.path)
        else:
            yield row, column, count_units.to_units(values, plan.denominator)


def _with_progress(file: EntryFile, label: str, context: Context) -> Iterator[Block]:
    return context.progress.follow(
        file.blocks(), label, file.entries, "entries", lambda block: len(block[0])
    )


def _vocabulary(words: WordList, plan: _Plan) -> Vocabulary:
    counts = np.rint(plan.sums).astype(np.int64) if words.counts is None else words.counts
    return Vocabulary(words.words, counts)


def _write(
    triangles: Triangles, writer: StoreWriter, vocabulary: Vocabulary, plan: _Plan, context: Context
) -> tuple[MatrixWriter, Workspace]:
    stored = np.dtype(np.float32) if plan.kind == PMI else plan.dtype
    rows = MatrixWriter(writer, vocabulary, stored)
    blocks, shop = triangles.rows()
    for block in context.progress.follow(
        blocks, "writing", len(vocabulary), "rows", lambda b: len(b.lengths)
    ):
        data = block.values.view(stored) if plan.kind == PMI else block.values
        rows.write(block.lengths, block.indices, data)
    return rows, shop


def _write_sums(writer: StoreWriter, shop: Workspace, symmetric: bool) -> None:
    row_sums, column_sums = shop.sums()
    writer.array("rowsums", np.int64).write(row_sums)
    if not symmetric:
        writer.array("columnsums", np.int64).write(column_sums)


def _attributes(
    symmetric: bool, plan: _Plan, words: WordList, record: ExportRecord | None
) -> dict[str, Any]:
    attributes: dict[str, Any] = {"triangle": "upper" if symmetric else ""}
    if plan.kind == COOC:
        attributes |= {"denominator": plan.denominator}
    if record is not None:
        facts = record.attributes.items()
        return attributes | {name: value for name, value in facts if name not in _RECOMPUTED}
    if plan.kind == COOC:
        tokens = 0 if words.counts is None else int(words.counts.sum())
        attributes |= {"tokens": tokens, "kept": tokens, "documents": 0}
    return attributes


def _repeated(repeated: int, path: Path, kind: str) -> WordgeomError:
    if kind == PMI:
        what, do = "weights must not repeat a row and column", "write each pair once"
        return InputError(what, where=path, found=f"{repeated:,} repeated entries", do=do)
    return FormatError("has repeated entries, unlike its run card", where=path)


def _notes(repeated: int, words: WordList, kind: str, triangles: Triangles) -> list[str]:
    notes = []
    if repeated:
        one, more = "repeated entry was summed", "repeated entries were summed"
        notes.append(several(repeated, one, more))
    if triangles.zeros:
        one, more = "entry is 0 and was ignored", "entries are 0 and were ignored"
        notes.append(several(triangles.zeros, one, more))
    if words.counts is None:
        instead = "each is stored as 1" if kind == PMI else "rounded row sums are stored"
        notes.append(f"the words file has no word counts; {instead}")
    if not triangles.symmetric:
        notes.append("the matrix is asymmetric: both triangles are stored")
    return notes
