"""Convert vectors files to other formats, optionally with fewer words or columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import first_few, several
from wordgeom.formats import dense, detection
from wordgeom.formats.conversion_paths import Paths
from wordgeom.formats.converted_ngrams import check_shared_model, ngram_notes, ngrams_path
from wordgeom.formats.fasttext import check_hashed, write_fasttext
from wordgeom.formats.options import ConvertOptions
from wordgeom.formats.output_checks import check_shared_file
from wordgeom.formats.projector import write_projector
from wordgeom.formats.vector_files import files_of, read_any_vectors, read_open_vectors, with_ngrams
from wordgeom.formats.word_files import read_word_list, words_bytes
from wordgeom.runtime import provenance
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.open_vocabulary import OpenVocabulary, missing_note, subword_note
from wordgeom.subwords.stored import lost_model, model_writer
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors, check_words, vector_writer
from wordgeom.vectors.zeros import undirected_notes, without_nonfinite, without_zeros

# Options in run cards.
_RECORDED = ("limit", "only", "dim", "space", "drop_zero", "drop_nan", "float16", "no_header")
_PER_COLUMN = ("spectrum", "residuals", "captured")  # statistics with one number per column


def rewrite(
    paths: Paths, options: ConvertOptions, memory: int, force: bool
) -> tuple[Vectors, list[str]]:
    """Write the selected words and columns; return the vectors written and notes for the user.

    Raises OptionError for an option that the format does not support, OutputExistsError without
    `force` for an existing words file with other words, and what reading and writing raise.
    """
    _check_options(paths.form, options)
    card, notes = run_card.read_card(paths.source), []
    read = _read(paths, options, memory)
    vectors, model = _first_rows(read.vectors, options.limit), read.model
    notes += missing_note(lost_model(paths.source) if model is None else None)
    if vectors.duplicates:
        repeated = several(vectors.duplicates, "repeated word was", "repeated words were")
        notes.append(f"{repeated} left out")
    if options.only is not None:
        vectors, messages = _select_words(OpenVocabulary(vectors, model), Path(options.only))
        notes += messages
    if options.dim is not None:
        vectors = _first_columns(vectors, card, paths.source, options.dim)
    if options.drop_nan:
        vectors, messages = without_nonfinite(vectors, str(paths.source))
        notes += messages
    if options.drop_zero:
        vectors, messages = without_zeros(vectors, str(paths.source))
        notes += messages
    made = replace(vectors, words=check_words(vectors.words, options.space, paths.target))
    check_shared_model(paths, options, made, force=force)
    if model is not None:
        notes += ngram_notes(paths, options)
    if paths.form in detection.ARRAYS:
        check_shared_file(paths.target_words, words_bytes(made.words), force, paths.target)
    if card is None and (provenance.configuration() or ngrams_path(paths, options)):
        # Without a card, a second run could not tell.
        card = {"content": run_card.file_content(paths.source)}
    if card is not None:
        card = _converted(card, options, conversion_request(paths, options))
    _write(paths, made, model, options, card)
    return made, notes + undirected_notes(made.words, made.matrix, str(paths.source))


def _check_options(form: str, options: ConvertOptions) -> None:
    if options.float16 and form not in detection.ARRAYS:
        raise OptionError(f"--float16 needs .npy or .npz output, not {form}", do="leave it out")
    if options.dim is not None and form == detection.FASTTEXT:
        raise OptionError("--dim does not apply to fastText models", do="leave it out")
    if options.no_header and form != detection.TEXT:
        raise OptionError(f"--no-header needs text output, not {form}", do="leave it out")


def _select_words(known: OpenVocabulary, path: Path) -> tuple[Vectors, list[str]]:
    """Return the vectors of the words in a file, with notes on repeated and missing words.

    Words without a vector get that of their n-grams, if there is a subword model.
    """
    listed, repeated = read_word_list(path)
    vectors, added = known.including(listed)
    found = {word: vectors.row(word) for word in listed}
    rows = sorted({row for row in found.values() if row is not None})
    if not rows:
        raise InputError(f"none of its {len(found):,} words has a vector", where=path)
    selected = Vectors([vectors.words[row] for row in rows], vectors.matrix[rows])
    one = f"line of {path} repeats a word and was ignored"
    more = f"lines of {path} repeat a word and were ignored"
    messages = [several(repeated, one, more)] if repeated else []
    messages += subword_note(added)
    missing = sorted(word for word, row in found.items() if row is None)
    if not missing:
        return selected, messages
    count = f"{len(missing):,} of {len(found):,} words of {path}"
    what = f"{count} have no vector: {first_few(missing)}"
    return selected, [*messages, what]


def _first_columns(
    vectors: Vectors, card: Mapping[str, Any] | None, source: Path, dim: int
) -> Vectors:
    """Return the first `dim` columns, which solve the problem for that dimension."""
    spectrum = ((card or {}).get("statistics") or {}).get("spectrum")
    if not isinstance(spectrum, list):
        do = "run wordgeom transform --canonical --dim, or train again with a smaller --dim"
        what = "has no spectrum in a run card, which --dim needs"
        raise InputError(what, where=source, do=do)
    columns = vectors.matrix.shape[1]
    if dim > columns:
        raise OptionError(f"--dim {dim} exceeds the number of columns, {columns}")
    return replace(vectors, matrix=np.ascontiguousarray(vectors.matrix[:, :dim]))


def _read(paths: Paths, options: ConvertOptions, memory: int) -> OpenVocabulary:
    """Return the vectors with their n-grams, or at least the first vectors if they have none."""
    source, words, given = paths.source, paths.words, paths.given
    if not with_ngrams(source):
        limit = options.limit
        read = OpenVocabulary(read_any_vectors(source, words, given, limit=limit, memory=memory))
    else:
        read = read_open_vectors(source, words, given, memory=memory)
    if paths.form == detection.FASTTEXT:
        check_hashed(read.model, source)
    return read


def _first_rows(vectors: Vectors, limit: int | None) -> Vectors:
    return Vectors(vectors.words[:limit], vectors.matrix[:limit], vectors.duplicates)


def _write(
    paths: Paths, made: Vectors, model: SubwordModel | None, options: ConvertOptions,
    card: Mapping[str, Any] | None,
) -> None:  # fmt: skip
    """Write the vectors and what belongs beside them."""
    target, beside = paths.target, ngrams_path(paths, options)
    if paths.form == detection.PROJECTOR:
        write_projector(target, made.words, made.matrix, card)
        return
    parts, of_card = _parts(paths, made, model, options), None if card is None else lambda: card
    kept = None if beside is None else model
    shared = None if paths.form == detection.FASTTEXT else target  # its n-grams are its own
    with model_writer(shared, kept, made, card or {}) as ready:
        run_card.write_together(target, parts, of_card, ready)


def _parts(
    paths: Paths, made: Vectors, model: SubwordModel | None, options: ConvertOptions
) -> dict[Path, Callable[[BinaryIO], object]]:
    """Return the files to write, and what fills each."""
    target, words, matrix = paths.target, made.words, made.matrix
    if paths.form == detection.FASTTEXT:
        hashed = check_hashed(model, paths.source)
        return {target: lambda out: write_fasttext(out, made, hashed)}
    if paths.form not in detection.ARRAYS:
        return {target: vector_writer(target, words, matrix, header=not options.no_header)}
    numbers = dense.to_float16(words, matrix, target) if options.float16 else matrix
    fill = dense.write_npy if paths.form == detection.NPY else dense.write_npz
    return {
        target: lambda out: fill(out, numbers),
        paths.target_words: lambda out: out.write(words_bytes(words)),
    }


def _converted(
    card: Mapping[str, Any], options: ConvertOptions, request: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the run card of the converted vectors; `source` holds the request that made them.

    Where they were converted before, that is the request before the first conversion.
    """
    statistics = dict(card.get("statistics") or {})
    for name in _PER_COLUMN:
        if isinstance(statistics.get(name), list):
            statistics[name] = statistics[name][: options.dim]
    own = ("beside", "configuration", "invocation")
    inherited = {name: value for name, value in card.items() if name not in own}
    changed = {
        "request": request,
        "source": card.get("source", card.get("request")),
        "statistics": statistics,
    }
    return inherited | changed | provenance.configuration() | provenance.invocation(request)


def conversion_request(paths: Paths, options: ConvertOptions) -> dict[str, Any]:
    """Return the request of a conversion, with the digests of the files that it reads."""
    asked: dict[str, Any] = {name: getattr(options, name) for name in _RECORDED}
    asked["format"] = None if paths.form == detection.format_of(paths.target) else paths.form
    files = files_of(paths.source, paths.words, paths.given)
    files += [Path(options.only)] if options.only else []
    digests = [run_card.file_content(path)["sha256"] for path in files]
    return {"command": "convert", "options": asked, "inputs": [{"digest": d} for d in digests]}
