"""Read a domain table: entities with names and complete numeric features."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import first_few, plural
from wordgeom.core.options import Options, option
from wordgeom.core.types import Float64
from wordgeom.imputation.tables.missing import (
    DROP,
    ERROR,
    MEAN,
    check_complete,
    check_finite,
    complete_rows,
    fill_with_means,
)
from wordgeom.imputation.tables.name_map import rename_entities
from wordgeom.imputation.tables.names import clean_names, first_rows, names_file, read_names
from wordgeom.imputation.tables.readers import (
    DELIMITED,
    VECTORS,
    holds_names,
    kind_of,
    read_table,
)
from wordgeom.imputation.tables.table import Table
from wordgeom.storage import opening
from wordgeom.vectors.finite import refuse_nonfinite
from wordgeom.vectors.word2vec_header import BINARY_SUFFIXES, TEXT_SUFFIXES, name_suffix

_ERROR, _FIRST = "error", "first"


@dataclass(frozen=True)
class DomainOptions(Options):
    """How to read entities and their features from a table."""

    names: str | None = option(
        None, "row names of a matrix, one per line  [MATRIX.words.txt, .txt, .names]",
        metavar="FILE",
    )  # fmt: skip
    name_map: str | None = option(
        None, "rename entities: lines of `entity word` (tab, comma or space)", metavar="FILE"
    )
    lower: bool = option(False, "lower-case entity names")
    duplicates: str = option(
        _ERROR, "repeated names: error, or keep the first", choices=(_ERROR, _FIRST)
    )
    missing: str = option(
        ERROR, "missing values: error, fill with column mean, or drop entity",
        choices=(ERROR, MEAN, DROP),
    )  # fmt: skip
    standardise: bool = option(False, "scale each column to mean 0 and variance 1")
    metric: str = option(
        "euclidean", "distance between entities", choices=("euclidean", "cosine", "correlation")
    )


@dataclass(frozen=True, eq=False)
class Domain:
    """n entities with d features each.

    names (n): unique, without white space; matrix (n × d) float64, C-order, finite; notes: values
    filled, entities dropped or renamed; mapped: names from --name-map, None without it; dropped:
    names of the entities that --missing drop left out.
    """

    names: list[str]
    matrix: Float64
    notes: tuple[str, ...] = ()
    mapped: frozenset[str] | None = None
    dropped: tuple[str, ...] = ()


def read_domain(path: str | Path, options: DomainOptions, memory: int) -> Domain:
    """Read a table: .npy, .npz, .csv, .tsv, .parquet or word vectors; `memory` in bytes.

    Raises MissingInputError, FormatError, InputError; OptionError for --names with a table that
    has names.
    """
    path = Path(path)
    kind = kind_of(path)
    file = _names_file(path, kind, options)
    table = read_table(path, kind, memory)
    _check_not_empty(table, path)
    if file is not None:
        table = replace(table, names=read_names(file, len(table.matrix), path))
    own, spaced = clean_names(table.names or [], file or path)
    names, mapped, renamed = _named(own, path, options)
    notes = [f"names with white space replaced by _: {spaced:,}"] if spaced else []
    table, names, fewer = _unique(table, names, own, path, options)
    if kind == VECTORS:
        _check_vectors(table, names, path, options.missing)
    matrix, left, changed = _complete(table, names, path, options.missing)
    there = set(left)
    dropped = tuple(name for name in names if name not in there)
    notes = [*table.notes, *notes, *renamed, *fewer, *changed]
    return Domain(left, matrix, tuple(notes), mapped, dropped)


def input_files(path: str | Path, options: DomainOptions) -> list[Path]:
    """Return the files that `read_domain` reads, after checking that they can be opened.

    Raises MissingInputError, and what detecting the kind of the table raises.
    """
    path = Path(path)
    file = _names_file(path, kind_of(path), options)
    name_map = [] if options.name_map is None else [Path(options.name_map)]
    others = [*([] if file is None else [file]), *name_map]
    for each in others:
        with opening.opened(each, "a text file"):
            pass
    return [path, *others]


def check_inputs(path: str | Path, options: DomainOptions) -> None:
    """Raise what `input_files` raises, before an earlier stage has run.

    A missing vectors file is no error here: an earlier stage may write it.
    """
    path = Path(path)
    if os.path.lexists(path) or name_suffix(path) not in (*BINARY_SUFFIXES, *TEXT_SUFFIXES):
        input_files(path, options)


def _names_file(path: Path, kind: str, options: DomainOptions) -> Path | None:
    """Return the names file, None if the table has names."""
    if not holds_names(path, kind):
        return names_file(path, options.names)
    if options.names is not None:
        do = "omit --names; to rename entities, use --name-map"
        if kind == DELIMITED:
            do += f"; if it has none, add them: paste {options.names} {path.name} > named.tsv"
        raise OptionError("the table has names, so --names has no effect", where=path, do=do)
    return None


def _check_not_empty(table: Table, path: Path) -> None:
    if not table.matrix.size:
        rows, columns = table.matrix.shape
        what = f"contains no numbers, only {rows:,} entities with {columns:,} features"
        raise InputError(what, where=path, do="check the file")


def _check_vectors(table: Table, names: Sequence[str], path: Path, policy: str) -> None:
    """Raise InputError for vectors with infinity, and with NaN unless --missing allows it."""
    allowed = policy != ERROR
    bad = np.isinf(table.matrix).any(axis=1) if allowed else ~np.isfinite(table.matrix).all(axis=1)
    do = "train again" if allowed else "train again, use --missing"
    refuse_nonfinite(names, np.flatnonzero(bad), str(path), do)


def _named(
    own: list[str], path: Path, options: DomainOptions
) -> tuple[list[str], frozenset[str] | None, list[str]]:
    """Return the final names, those from the name map, and notes; own (n): names in the table."""
    names, mapped, notes = own, None, list[str]()
    if options.name_map is not None:
        renamed = rename_entities(own, Path(options.name_map))
        names, mapped = renamed.names, renamed.mapped
        total = renamed.used + renamed.unused
        note = f"{renamed.used:,} of {total:,} entries of the name map match an entity"
        notes.append(f"{note}; {renamed.first_unused!r} does not" if renamed.unused else note)
    if options.lower:
        names = [name.lower() for name in names]
    if options.duplicates != _FIRST:
        _check_renamed(own, names, mapped, path, options)
    return names, None if mapped is None else _mapped_names(names, mapped), notes


def _check_renamed(
    own: Sequence[str], names: Sequence[str], mapped: Sequence[bool] | None, path: Path,
    options: DomainOptions,
) -> None:  # fmt: skip
    """Raise InputError where --name-map or --lower gives two entities one name."""
    first: dict[str, int] = {}
    for row, name in enumerate(names):
        other = first.setdefault(name, row)
        if own[other] == own[row]:
            continue
        two = f"gives the entities {own[other]!r} and {own[row]!r}"
        if mapped is not None and (mapped[row] or mapped[other]):
            do = "give each a word of its own; an entity without a line keeps its name"
            raise InputError(f"{two} one word, {name!r}", where=str(options.name_map), do=do)
        do = "leave it out, or rename one of them with --name-map"
        raise InputError(f"--lower {two} one name, {name!r}", where=path, do=do)


def _mapped_names(names: Sequence[str], mapped: Sequence[bool]) -> frozenset[str]:
    """Return the names whose first entity got its name from the map."""
    first: dict[str, bool] = {}
    for name, given in zip(names, mapped, strict=True):
        first.setdefault(name, given)
    return frozenset(name for name, given in first.items() if given)


def _unique(
    table: Table, names: Sequence[str], own: Sequence[str], path: Path, options: DomainOptions
) -> tuple[Table, list[str], list[str]]:
    """Return the table with unique names, the names, and notes; own (n): names in the table."""
    strict = options.duplicates != _FIRST
    if strict and table.repeated:
        what = f"contains {plural(table.repeated, 'repeated word')}"
        do = "to keep the first of each, use --duplicates first"
        raise InputError(what, where=path, do=do)
    rows = first_rows(names, path, strict=strict)
    fewer = len(names) - len(rows) + table.repeated
    notes = [f"entities dropped because of repeated names: {fewer:,}"] if fewer else []
    if len(rows) == len(names):
        return table, list(names), notes
    left = set(rows)
    dropped = [
        old if old == name else f"{old} (as {name})"
        for row, (old, name) in enumerate(zip(own, names, strict=True)) if row not in left
    ]  # fmt: skip
    notes[0] += f": {first_few(dropped)}"
    return replace(table, matrix=table.matrix[rows]), [names[row] for row in rows], notes


def _complete(
    table: Table, names: list[str], path: Path, policy: str
) -> tuple[Float64, list[str], list[str]]:
    """Return the matrix without missing values, the names of its rows, and notes."""
    check_finite(table, names, path)
    if policy == MEAN:
        matrix, notes = fill_with_means(table.matrix, path)
        return matrix, names, notes
    if policy == DROP:
        rows, notes = complete_rows(table.matrix, path)
        if len(rows) < len(names):
            remaining = [names[row] for row in rows.tolist()]
            return np.ascontiguousarray(table.matrix[rows]), remaining, notes
        return table.matrix, names, notes
    check_complete(table, names, path)
    return table.matrix, names, []
