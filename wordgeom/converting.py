"""Vectors files from vectors files: other formats, fewer words, fewer columns."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom import cards
from wordgeom.errors import InputError, OptionError, OutputExistsError
from wordgeom.vectors import Vectors, read_vectors, writable_words

_BY_COLUMN = ("spectrum", "residuals")  # statistics with a number for each column


def convert(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    limit: int | None = None,
    dim: int | None = None,
    space: str | None = None,
    force: bool = False,
) -> Vectors:
    """Write the first words and columns of `source` to `target`, and return them.

    dim: columns, where they stand in order of a spectrum; space: replaces white space in words. The
    run card of `source`, where there is one, is written too, with both requests. Raises
    OutputExistsError without `force`, and what reading and writing raise.
    """
    source, target = Path(source), Path(target)
    if os.path.lexists(target) and not force:
        do = "pass --force to replace it, or name another"
        raise OutputExistsError("exists", where=target, do=do)
    card = cards.read_card(source)
    vectors = read_vectors(source, limit=limit)
    if dim is not None:
        vectors = _first_columns(vectors, card, source, dim)
    words = writable_words(target, vectors.words, space=space)
    made = Vectors(words, vectors.matrix, vectors.duplicates)
    options = {"limit": limit, "dim": dim, "space": space}
    cards.write(target, made, None if card is None else _converted(card, options, dim))
    return made


def _first_columns(
    vectors: Vectors, card: Mapping[str, Any] | None, source: Path, dim: int
) -> Vectors:
    """Return the first columns: the solution of a smaller K."""
    spectrum = ((card or {}).get("statistics") or {}).get("spectrum")
    if not isinstance(spectrum, list):
        do = "train again with a smaller --dim"
        what = "its columns are not known to stand in any order"
        raise InputError(what, where=source, found="no spectrum in a run card", do=do)
    columns = vectors.matrix.shape[1]
    if dim > columns:
        raise OptionError(f"--dim {dim} is more than there are columns", found=columns)
    cut = np.ascontiguousarray(vectors.matrix[:, :dim])
    return Vectors(vectors.words, cut, vectors.duplicates)


def _converted(card: Mapping[str, Any], options: dict[str, Any], dim: int | None) -> dict[str, Any]:
    """Return the card of what was converted: how it was made, and out of what."""
    statistics = dict(card.get("statistics") or {})
    for name in _BY_COLUMN:
        if isinstance(statistics.get(name), list):
            statistics[name] = statistics[name][:dim]
    request = {
        "command": "convert",
        "options": options,
        "inputs": [{"digest": card["content"]["sha256"]}],
    }
    kept = {name: value for name, value in card.items() if name != "beside"}
    return kept | {"request": request, "source": card.get("request"), "statistics": statistics}
