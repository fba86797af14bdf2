"""The stage of imputation: a domain and vectors → vectors of its entities, and a table of trust.

The vectors of the base file are written first, in their order and bit for bit, then those of the
imputed entities in the domain's order.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import several
from wordgeom.imputation.domain import Domain, DomainOptions, inputs, read_domain
from wordgeom.imputation.latent import Imputation
from wordgeom.imputation.latent import impute as impute_entities
from wordgeom.imputation.options import ImputeOptions
from wordgeom.imputation.output import Output
from wordgeom.imputation.points import points as points_of
from wordgeom.imputation.report import validation_lines
from wordgeom.imputation.tables.matching import Anchors, find_anchors, map_notes
from wordgeom.imputation.trust import Trust
from wordgeom.linalg.device import open_context
from wordgeom.runtime import provenance
from wordgeom.runtime.context import Context
from wordgeom.runtime.provenance import Clock
from wordgeom.runtime.run_options import GIGABYTE, RunOptions
from wordgeom.storage import opening
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors, read_vectors, shape_of, writable_words

_PATHS = ("names", "name_map")  # options whose files' digests stand for them
_EDGE = 40  # bytes that a neighbour takes: in the graph, the weights and the system


@dataclass
class Imputed:
    """Vectors that were imputed, or found up to date (then `vectors` and `trust` are None).

    validation: lines to print, none where it was not asked for.
    """

    summary: str
    vectors: Vectors | None = None
    trust: Trust | None = None
    notes: list[str] = field(default_factory=list)
    statistics: dict[str, Any] = field(default_factory=dict)
    validation: list[str] = field(default_factory=list)


def impute(
    domain: str | os.PathLike[str],
    vectors: str | os.PathLike[str] | Vectors,
    values: dict[str, Any],
    run: RunOptions,
    *,
    out: str | os.PathLike[str] | None,
    table: str | os.PathLike[str] | None = None,
    show: bool = False,
) -> Imputed:
    """Give every entity of `domain` a vector, from those of a file, or in memory.

    out: where to write (.bin, .txt, .vec), None for nowhere; table: of trust, beside `out` where
    it is None. Raises what reading raises, OptionError, InputError, OutputExistsError.
    """
    clock = Clock()
    of_domain, of_stage = DomainOptions.take(values), ImputeOptions.take(values)
    files = inputs(Path(domain), of_domain)
    output = _output(out, table, [*files, *([] if isinstance(vectors, Vectors) else [vectors])])
    request = _request(files, vectors, of_domain, of_stage, run)
    if output is not None:
        request["options"]["table"] = output.table_name
    with run_card.writer_lock(out):
        if output is not None and output.up_to_date(request, run.force):
            if not of_stage.validate:
                return Imputed(f"{out}: up to date")
            if held := output.validation(of_stage.validate):
                return Imputed(f"{out}: up to date", validation=validation_lines(held))
        with open_context(run, show=show) as context:
            made = _make(domain, vectors, of_domain, of_stage, out, context)
        if output is not None:
            card = provenance.card(request, made.statistics, clock.seconds()) | {
                "notes": made.notes
            }
            output.write(made.vectors, made.trust, card)
    where = "vectors" if out is None else os.fspath(out)
    summary = f"{where}: {made.summary}; {clock.seconds():.1f} s"
    return Imputed(summary, made.vectors, made.trust, made.notes, made.statistics, made.validation)


def _output(
    out: str | os.PathLike[str] | None,
    table: str | os.PathLike[str] | None,
    files: Sequence[str | os.PathLike[str]],
) -> Output | None:
    if out is not None:
        beside = None if table is None else Path(table)
        return Output.of(Path(out), beside, [Path(file) for file in files])
    if table is not None:
        raise OptionError("a table is written with vectors", do="name a file for them too")
    return None


@dataclass(frozen=True)
class _Made:
    summary: str
    vectors: Vectors
    trust: Trust
    notes: list[str]
    statistics: dict[str, Any]
    validation: list[str]


def _request(
    files: Sequence[Path],
    vectors: str | os.PathLike[str] | Vectors,
    of_domain: DomainOptions,
    of_stage: ImputeOptions,
    run: RunOptions,
) -> dict[str, Any]:
    asked = {k: v for k, v in of_domain.result_options().items() if k not in _PATHS}
    asked |= {**of_stage.result_options(), "seed": run.seed}
    digests = [_digest(file, "a file") for file in files]
    if isinstance(vectors, Vectors):
        digests.append(_memory_digest(vectors))
    else:
        digests.append(_digest(vectors, "a .bin, .txt or .vec file"))
    return {"command": "impute", "options": asked, "inputs": [{"digest": d} for d in digests]}


def _digest(path: str | os.PathLike[str], wanted: str) -> str:
    with opening.opened(Path(path), wanted) as handle:
        return hashlib.file_digest(cast(io.BufferedReader, handle), "sha256").hexdigest()


def _memory_digest(vectors: Vectors) -> str:
    content = hashlib.sha256("\n".join(vectors.words).encode())
    content.update(np.ascontiguousarray(vectors.matrix).data)
    return content.hexdigest()


def _make(
    path: str | os.PathLike[str],
    source: str | os.PathLike[str] | Vectors,
    of_domain: DomainOptions,
    of_stage: ImputeOptions,
    out: str | os.PathLike[str] | None,
    context: Context,
) -> _Made:
    domain = read_domain(os.fspath(path), of_domain, context.memory)
    _check_memory(domain, source, of_stage, context.memory)
    named = "the vectors" if isinstance(source, Vectors) else os.fspath(source)
    base = source if isinstance(source, Vectors) else read_vectors(Path(source))
    anchors = find_anchors(domain.names, base, os.fspath(path), named)
    matrix, notes = points_of(domain, of_domain)
    found = impute_entities(domain.names, matrix, anchors, of_stage, context)
    vectors = _joined(domain, base, anchors, found, of_stage.only_entities)
    if out is not None:
        writable_words(Path(out), vectors.words, space=None)
    n, p = len(domain.names), len(anchors.entities)
    facts = {"entities": n, "numbers": domain.matrix.shape[1], "known": p, "imputed": n - p}
    statistics = {**facts, "dimension": vectors.matrix.shape[1], **found.statistics}
    checked = found.validation
    if checked is not None:
        statistics["validation"] = checked.to_dict()
    return _Made(
        f"{several(n, 'entity', 'entities')}, {p:,} known, {n - p:,} imputed",
        vectors,
        found.trust,
        [
            *domain.notes,
            *notes,
            *map_notes(domain.names, anchors.known, domain.mapped),
            *_own_notes(base, named, anchors),
            *found.notes,
        ],
        statistics,
        [] if checked is None else validation_lines(checked),
    )


def _own_notes(base: Vectors, named: str, anchors: Anchors) -> list[str]:
    notes = []
    if base.duplicates:
        notes.append(f"{named}: words that the file holds again, left out: {base.duplicates:,}")
    if anchors.zeros:
        notes.append(several(anchors.zeros, "known vector is 0", "known vectors are 0"))
    if anchors.known.all():
        n = len(anchors.known)
        whole = f"all {n:,} entities are" if n > 1 else "the only entity is"
        notes.append(f"{whole} known: nothing to impute")
    return notes


def _joined(
    domain: Domain, base: Vectors, anchors: Anchors, found: Imputation, only: bool
) -> Vectors:
    """Return the base's vectors and the imputed, or those of the domain alone."""
    imputed, known = found.vectors.astype(np.float32), anchors.known
    if only:
        matrix = np.empty((len(known), base.matrix.shape[1]), np.float32)
        matrix[known], matrix[~known] = base.matrix[anchors.rows], imputed
        return Vectors(domain.names, matrix)
    new = [domain.names[entity] for entity in np.flatnonzero(~known).tolist()]
    return Vectors([*base.words, *new], np.concatenate((base.matrix, imputed)))


def _check_memory(
    domain: Domain,
    source: str | os.PathLike[str] | Vectors,
    options: ImputeOptions,
    memory: int,
) -> None:
    """Refuse what cannot fit, before vectors are read: two copies of points and of vectors."""
    n, d = domain.matrix.shape
    words, numbers = shape_of(source)
    written = n if options.only_entities else words + n
    vectors = 4 * numbers * (words + written) + 8 * numbers * n
    need = 16 * n * d + vectors + _EDGE * n * options.delta
    if need > memory:
        raise InputError(
            f"{n:,} × {d:,} points and {written:,} vectors of {numbers:,} do not fit --memory",
            found=f"{need / GIGABYTE:,.2g} GB to hold, {memory / GIGABYTE:,.2g} GB allowed",
            do="raise --memory" if options.only_entities else "raise it, or pass --only-entities",
        )
