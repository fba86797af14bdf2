"""Vectors files of one name read the same subword model: `v.bin` and `v.txt` read `v.subwords`.

A model belongs to the words and vectors of one file, and is an error beside others. So no output is
written that would be read with the n-grams of another file, nor n-grams that another would be read
with.
"""

from __future__ import annotations

from glob import escape
from pathlib import Path

from wordgeom.core.errors import OptionError, WordgeomError
from wordgeom.formats import detection
from wordgeom.formats.fasttext import is_fasttext
from wordgeom.formats.quantised import is_quantised
from wordgeom.formats.vector_files import shape_of
from wordgeom.formats.word_files import companion_path
from wordgeom.storage.files import same_file
from wordgeom.storage.store import exists
from wordgeom.subwords.stored import is_model, model_path

_FORMS = (detection.BIN, detection.TEXT, *detection.ARRAYS)
_DO = "choose an output of another name"


def check_no_model(vectors: Path, given: Path | None = None, *, force: bool) -> None:
    """Raise OptionError where a file would be read with a broken model, or that of other vectors.

    given: vectors whose model it may be; force: whether to replace the vectors at that path, whose
    model is then removed.
    """
    beside = model_path(vectors)
    if not exists(beside):
        return
    if not is_model(beside):
        what = f"is no readable subword model, but would be read as that of {vectors.name}"
        raise OptionError(what, where=beside, do=f"{_DO}, or remove it")
    others = _other_readers(vectors)
    if force and not others:
        return
    shared = given is not None and same_file(beside, model_path(given))
    whose = f"{given} alone" if shared and others else "other vectors"
    do = _DO if others else f"pass --force to replace it, or {_DO}"
    raise OptionError(f"has the n-grams of {whose}", where=beside, do=do)


def check_other_readers(vectors: Path) -> None:
    """Raise OptionError where another file would be read with the model of these vectors."""
    for other in _other_readers(vectors):
        what = f"would be read with the n-grams of {vectors.name}"
        raise OptionError(what, where=other, do=f"{_DO}, or move {other.name}")


def _other_readers(vectors: Path) -> list[Path]:
    """Return the other vectors files that are read with the model of a path."""
    beside = model_path(vectors)
    stem = escape(beside.name.removesuffix(beside.suffix))
    return [
        other
        for other in sorted(vectors.parent.glob(f"{stem}.*"))
        if model_path(other) == beside and not same_file(other, vectors) and _is_reader(other)
    ]


def _is_reader(path: Path) -> bool:
    """Return whether a file has vectors that are read with a model beside them."""
    form = detection.format_of(path)
    if form not in _FORMS or not path.is_file() or is_fasttext(path):
        return False
    try:
        if form in detection.ARRAYS and not companion_path(path).exists():
            return is_quantised(path)
        return all(shape_of(path))
    except (WordgeomError, OSError):  # a list of words, or a broken file
        return False
