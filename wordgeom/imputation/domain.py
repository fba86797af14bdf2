"""The domain: entities and what is known of each, from any kind of table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError, OptionError
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
from wordgeom.imputation.tables.readers import holds_names, kind_of, read_table
from wordgeom.imputation.tables.table import Table
from wordgeom.storage import opening
from wordgeom.vectors.word2vec_header import BINARY_SUFFIXES, TEXT_SUFFIXES, name_suffix

_ERROR, _FIRST = "error", "first"


@dataclass(frozen=True)
class DomainOptions(Options):
    """How a table becomes entities with names and numbers."""

    names: str | None = option(
        None, "names of a matrix's rows, one a line  [MATRIX.txt or .names]", metavar="FILE"
    )
    name_map: str | None = option(
        None, "rename entities: `entity word` a line, with a tab, comma or blank", metavar="FILE"
    )
    lower: bool = option(False, "lower-case the entities' names")
    duplicates: str = option(
        _ERROR, "entities of one name: error, or keep the first", choices=(_ERROR, _FIRST)
    )
    missing: str = option(
        ERROR,
        "missing numbers (blank, -, NA, N/A, NaN, null, None): error, mean of the column, or drop "
        "the entity",
        choices=(ERROR, MEAN, DROP),
    )
    standardise: bool = option(False, "bring each column to mean 0 and variance 1")
    metric: str = option(
        "euclidean",
        "what makes entities near: distance, angle, or correlation of their numbers",
        choices=("euclidean", "cosine", "correlation"),
    )


@dataclass(frozen=True, eq=False)
class Domain:
    """n entities and d numbers of each.

    names (n): unique, without white space; matrix (n × d) float64, C-order, finite; notes: what
    was filled, left out or renamed; mapped: the names that --name-map gave, None without it.
    """

    names: list[str]
    matrix: Float64
    notes: tuple[str, ...] = ()
    mapped: frozenset[str] | None = None


def read_domain(path: str | Path, options: DomainOptions, memory: int) -> Domain:
    """Read a table: .npy, .npz, .csv, .tsv, .parquet or word vectors; `memory` in bytes.

    Raises MissingInputError, FormatError, InputError and, for --names beside names in the file,
    OptionError.
    """
    path = Path(path)
    kind = kind_of(path)
    file = _names_file(path, kind, options)
    table = read_table(path, kind, memory)
    _check_not_empty(table, path)
    if file is not None:
        table = replace(table, names=read_names(file, len(table.matrix), path))
    known, mapped, notes = _named(table, file or path, options)
    table, known, fewer = _unique(table, known, path, options)
    matrix, known, changed = _complete(table, known, path, options.missing)
    return Domain(known, matrix, (*table.notes, *notes, *fewer, *changed), mapped)


def input_files(path: str | Path, options: DomainOptions) -> list[Path]:
    """Return the files that `read_domain` reads, all of which are there.

    Raises MissingInputError for one that is not, and what telling the table's kind raises.
    """
    path = Path(path)
    file = _names_file(path, kind_of(path), options)
    mapped = [] if options.name_map is None else [Path(options.name_map)]
    beside = [*([] if file is None else [file]), *mapped]
    for each in beside:
        with opening.opened(each, "a text file"):
            pass
    return [path, *beside]


def check_inputs(path: str | Path, options: DomainOptions) -> None:
    """Raise what `inputs` raises, before anything is made for a table that is not there.

    Word vectors may be a table that an earlier stage makes: they are not missed here.
    """
    path = Path(path)
    if os.path.lexists(path) or name_suffix(path) not in (*BINARY_SUFFIXES, *TEXT_SUFFIXES):
        input_files(path, options)


def _names_file(path: Path, kind: str, options: DomainOptions) -> Path | None:
    """Return the file of names, None where the table holds them."""
    if not holds_names(path, kind):
        return names_file(path, options.names)
    if options.names is not None:
        do = "leave --names out; --name-map renames entities"
        raise OptionError("--names is for a file without names", where=path, do=do)
    return None


def _check_not_empty(table: Table, path: Path) -> None:
    if not table.matrix.size:
        rows, columns = table.matrix.shape
        found, do = f"{rows:,} entities of {columns:,} numbers", "check what it holds"
        raise InputError("holds no number", where=path, found=found, do=do)


def _named(
    table: Table, where: Path, options: DomainOptions
) -> tuple[list[str], frozenset[str] | None, list[str]]:
    """Return what entities are called in the end, which names a map gave, and notes."""
    known, spaced = clean_names(table.names or [], where)
    mapped: list[bool] | None = None
    notes = [f"names whose white space became _: {spaced:,}"] if spaced else []
    if options.name_map is not None:
        renamed = rename_entities(known, Path(options.name_map))
        known, mapped = renamed.names, renamed.mapped
        total = renamed.used + renamed.unused
        note = f"{renamed.used:,} of {total:,} entries of {options.name_map} name an entity"
        notes.append(f"{note}; {renamed.first_unused!r} does not" if renamed.unused else note)
    if options.lower:
        known = [name.lower() for name in known]
    return known, None if mapped is None else _mapped_names(known, mapped), notes


def _mapped_names(names: Sequence[str], mapped: Sequence[bool]) -> frozenset[str]:
    """Return the names that a map gave to the first entity of the name."""
    first: dict[str, bool] = {}
    for name, given in zip(names, mapped, strict=True):
        first.setdefault(name, given)
    return frozenset(name for name, given in first.items() if given)


def _unique(
    table: Table, known: Sequence[str], path: Path, options: DomainOptions
) -> tuple[Table, list[str], list[str]]:
    """Return the table with each name once, the names, and notes."""
    strict = options.duplicates != _FIRST
    if strict and table.repeated:
        found, do = f"{table.repeated:,}", "--duplicates first keeps the first of each name"
        raise InputError("holds words that occur again", where=path, found=found, do=do)
    rows = first_rows(known, path, strict=strict)
    fewer = len(known) - len(rows) + table.repeated
    notes = [f"entities left out, whose names occur before: {fewer:,}"] if fewer else []
    if len(rows) == len(known):
        return table, list(known), notes
    return replace(table, matrix=table.matrix[rows]), [known[row] for row in rows], notes


def _complete(
    table: Table, known: list[str], path: Path, policy: str
) -> tuple[Float64, list[str], list[str]]:
    """Return numbers that are all there, the names of their rows, and notes."""
    check_finite(table, known, path)
    if policy == MEAN:
        matrix, notes = fill_with_means(table.matrix, path)
        return matrix, known, notes
    if policy == DROP:
        rows, notes = complete_rows(table.matrix, path)
        if len(rows) < len(known):
            kept = [known[row] for row in rows.tolist()]
            return np.ascontiguousarray(table.matrix[rows]), kept, notes
        return table.matrix, known, notes
    check_complete(table, known, path)
    return table.matrix, known, []
