"""Vectors files from vectors files: other formats, fewer words, fewer columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import several
from wordgeom.formats import dense, detection
from wordgeom.formats.options import ConvertOptions
from wordgeom.formats.output_checks import check_same_request
from wordgeom.formats.projector import FILES, write_projector
from wordgeom.formats.word_files import beside, read_list, word_lines
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors, check_words, read_vectors

_BY_COLUMN = ("spectrum", "residuals", "captured")  # statistics with a number for each column
_LISTED = 5


@dataclass(frozen=True)
class Paths:
    """What is read, in which format where it is an array, and what is written."""

    source: Path
    array: str | None
    target: Path
    form: str
    words: Path | None

    @classmethod
    def of(
        cls, source: Path, told: str | None, target: Path, form: str, words: str | None
    ) -> Paths:
        """Return the paths; told: what --from says; words: what --words names."""
        found = told or detection.told(source)
        array = found if found in detection.ARRAYS else None
        return cls(source, array, target, form, None if words is None else Path(words))

    @property
    def source_words(self) -> Path:
        """Where the words of an array that is read lie."""
        return self.words or beside(self.source)

    @property
    def target_words(self) -> Path:
        """Where the words of an array that is written lie; --words names those that are read."""
        return self.words if self.words and not self.array else beside(self.target)

    def written(self) -> list[Path]:
        """Return the files that are written, but for words, which others may share."""
        if self.form == detection.PROJECTOR:
            return [self.target / name for name in FILES]
        return [self.target]


def rewrite(
    paths: Paths, options: ConvertOptions, memory: int, force: bool
) -> tuple[Vectors, list[str]]:
    """Write what the options take of the vectors; return it, and what to tell the user.

    Raises OptionError for an option that the format has no place for, OutputExistsError for a file
    of other words without `force`, and what reading and writing raise.
    """
    _check_options(paths.form, options)
    card, notes = run_card.read_card(paths.source), []
    vectors = _read(paths, options, memory)
    if vectors.duplicates:
        notes.append(f"{vectors.duplicates:,} repeated words left out")
    if options.only is not None:
        vectors, told = _only(vectors, Path(options.only))
        notes += told
    if options.dim is not None:
        vectors = _first_columns(vectors, card, paths.source, options.dim)
    made = replace(vectors, words=check_words(vectors.words, options.space, paths.target))
    if paths.form in detection.ARRAYS:
        check_same_request(paths.target_words, word_lines(made.words), force)
    _write(paths, made, options, None if card is None else _converted(card, options))
    return made, notes + dense.infinite(made.words, made.matrix)


def _check_options(form: str, options: ConvertOptions) -> None:
    if options.float16 and form not in detection.ARRAYS:
        raise OptionError("--float16 is for .npy and .npz", found=form, do="leave it out")
    if options.no_header and form != detection.TEXT:
        raise OptionError("--no-header is for text", found=form, do="leave it out")


def _read(paths: Paths, options: ConvertOptions, memory: int) -> Vectors:
    if paths.array is None:
        return read_vectors(paths.source, limit=options.limit)
    archive = paths.array == detection.NPZ
    vectors = dense.read_dense(paths.source, paths.source_words, archive, memory)
    return Vectors(vectors.words[: options.limit], vectors.matrix[: options.limit])


def _only(vectors: Vectors, path: Path) -> tuple[Vectors, list[str]]:
    """Return the vectors of a file's words; how many it repeats, and which have none."""
    listed, repeated = read_list(path)
    wanted = set(listed)
    rows = [row for row, word in enumerate(vectors.words) if word in wanted]
    if not rows:
        found = f"{len(wanted):,} words"
        raise InputError("none of its words has a vector", where=path, found=found)
    kept = Vectors([vectors.words[row] for row in rows], vectors.matrix[rows])
    one = f"line of {path} repeats a word and was left out"
    more = f"lines of {path} repeat a word and were left out"
    told = [several(repeated, one, more)] if repeated else []
    missing = sorted(wanted.difference(vectors.words))
    if not missing:
        return kept, told
    first = ", ".join(missing[:_LISTED]) + (" …" if len(missing) > _LISTED else "")
    what = f"{len(missing):,} of {len(wanted):,} words of {path} have no vector: {first}"
    return kept, [*told, what]


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
    return replace(vectors, matrix=np.ascontiguousarray(vectors.matrix[:, :dim]))


def _write(
    paths: Paths, made: Vectors, options: ConvertOptions, card: Mapping[str, Any] | None
) -> None:
    target, words, matrix = paths.target, made.words, made.matrix
    if paths.form == detection.PROJECTOR:
        write_projector(target, words, matrix)
        return
    if paths.form not in detection.ARRAYS:
        run_card.write(target, made, card, header=not options.no_header)
        return
    numbers = dense.halved(words, matrix, target) if options.float16 else matrix
    fill = dense.write_npy if paths.form == detection.NPY else dense.write_npz
    parts: dict[Path, Callable[[BinaryIO], object]] = {
        target: lambda out: fill(out, numbers),
        paths.target_words: lambda out: out.writelines(word_lines(words)),
    }
    run_card.write_together(target, parts, None if card is None else lambda: card)


def _converted(card: Mapping[str, Any], options: ConvertOptions) -> dict[str, Any]:
    """Return the card of what was converted: how it was made, and out of what."""
    statistics = dict(card.get("statistics") or {})
    for name in _BY_COLUMN:
        if isinstance(statistics.get(name), list):
            statistics[name] = statistics[name][: options.dim]
    asked = {name: getattr(options, name) for name in ("limit", "only", "dim", "space")}
    request = {
        "command": "convert",
        "options": asked,
        "inputs": [{"digest": card["content"]["sha256"]}],
    }
    kept = {name: value for name, value in card.items() if name != "beside"}
    return kept | {"request": request, "source": card.get("request"), "statistics": statistics}
