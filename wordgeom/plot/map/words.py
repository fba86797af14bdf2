"""The content of a map: words, positions, colours, and the vectors that say which are near."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import first_few, several
from wordgeom.core.types import Float64, Int64
from wordgeom.formats.vector_files import read_any_vectors
from wordgeom.plot.colours import Colouring, read_colouring
from wordgeom.plot.labels import coinciding
from wordgeom.plot.map.coordinates import coordinates
from wordgeom.plot.map.groups import clusters, imputed_groups
from wordgeom.plot.map.options import MapOptions
from wordgeom.plot.map.selection import drawn_rows
from wordgeom.plot.options import ColourOptions
from wordgeom.vectors.finite import nonfinite_notes, nonfinite_rows, refuse_nonfinite
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.nearest import unit_vectors
from wordgeom.vectors.zeros import undirected_notes

_CLUSTERS = 8
_FLAT = 1e-6  # extent of a map, relative to its coordinates or the unit vectors, that is rounding


@dataclass(frozen=True, eq=False)
class Space:
    """The vectors in which words are near: points (n × d), unit vectors if `cosine`."""

    name: str
    points: Float64
    cosine: bool


@dataclass(frozen=True, eq=False)
class WordMap:
    """The n words of a map, in the order in which they are labelled.

    positions (n × 2); named: how many words, the first, were chosen by name; colouring: None for
    one colour; caption: what is drawn, and how it was made.
    """

    name: str
    words: list[str]
    positions: Float64
    named: int
    space: Space
    colouring: Colouring | None
    caption: str
    notes: list[str]


def read_map(path: str | Path, options: MapOptions, colours: ColourOptions, most: int) -> WordMap:
    """Read the map of a vectors file; most: words that are drawn without --top.

    Raises what reading raises; InputError for fewer than three words, for one dimension, for
    vectors that are not finite, and where all words have one position.
    """
    path = Path(path)
    if colours.colour_by is not None and options.clusters:
        raise OptionError("--colour-by and --clusters exclude each other", do="pass one of the two")
    vectors = read_any_vectors(path)
    if (columns := vectors.matrix.shape[1]) < 2:
        do = "train with --dim 2 or more"
        raise InputError("a map needs 2 dimensions or more", where=path, found=columns, do=do)
    imputed, note = imputed_groups(path)
    ahead = list(imputed.values) if imputed is not None else []
    rows, named, notes = drawn_rows(vectors, options, most, ahead, path)
    notes += [note] if note else []
    words = [vectors.words[row] for row in rows.tolist()]
    refuse_nonfinite(words, nonfinite_rows(vectors.matrix[rows]), str(path), "choose other words")
    positions, how = coordinates(vectors.matrix[rows], path.name)
    _check_extent(positions, 1.0 if how else float(np.abs(positions).max()), path)
    space = _space(path, vectors, rows, options.reference)
    notes += nonfinite_notes(vectors.words, vectors.matrix, path.name)
    if space.cosine:
        notes += undirected_notes(words, space.points, space.name)
    colouring = None if colours.colour_by is None else read_colouring(colours.colour_by)
    if colouring is None:
        colouring = _groups(words, space, options.clusters, imputed)
    of = "" if len(words) == len(vectors.words) else f" of {len(vectors.words):,}"
    parts = [f"{len(words):,}{of} words of {path.name}"]
    if hidden := coinciding(positions):
        parts.append(f"{several(hidden, 'word is', 'words are')} at the position of another")
    notes += [how] if how else []
    parts += [how.partition(": the map shows ")[2]] if how else []
    return WordMap(path.name, words, positions, named, space, colouring, ", ".join(parts), notes)


def _check_extent(positions: Float64, scale: float, path: Path) -> None:
    """Raise InputError where all words have one position, but for the rounding of the scale."""
    if float(np.ptp(positions, axis=0).max()) <= _FLAT * scale:
        what = f"all {len(positions):,} words have the same coordinates"
        raise InputError(what, where=path, do="choose other words, or train again")


def _space(path: Path, vectors: Vectors, rows: Int64, reference: str | None) -> Space:
    """Return the vectors of the words, of the file or of --reference; raises InputError."""
    if reference is None:
        return _normalised(path.name, vectors.matrix[rows].astype(np.float64))
    other = read_any_vectors(Path(reference))
    words = [vectors.words[row] for row in rows.tolist()]
    found = [other.row(word) for word in words]
    if missing := [word for word, row in zip(words, found, strict=True) if row is None]:
        what = f"lacks {len(missing):,} of the {len(words):,} words: {first_few(missing)}"
        do = "pass the vectors that the map was made from, or choose words with --words"
        raise InputError(what, where=reference, do=do)
    matrix = other.matrix[np.array(found, np.int64)]
    refuse_nonfinite(words, nonfinite_rows(matrix), reference, "choose other words")
    return _normalised(Path(reference).name, matrix.astype(np.float64))


def _normalised(name: str, points: Float64) -> Space:
    """Return unit vectors, or positions as they are."""
    flat = points.shape[1] == 2
    return Space(name, points if flat else unit_vectors(points), not flat)


def _groups(
    words: list[str], space: Space, count: int | None, imputed: Colouring | None
) -> Colouring | None:
    if count is None and imputed is not None:
        return imputed
    count = _CLUSTERS if count is None else count
    return clusters(words, space.points, count, space.name) if count else None
