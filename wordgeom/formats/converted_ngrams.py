"""The n-grams of vectors that are converted: whether the new file has them too.

A subword model belongs to the words and vectors of one file. It is written again for a file in
another format, or with fewer words, but not for changed vectors or a list of chosen words.
"""

from __future__ import annotations

from pathlib import Path

from wordgeom.core.errors import OptionError
from wordgeom.core.options import flag
from wordgeom.formats import detection
from wordgeom.formats.conversion_paths import Paths
from wordgeom.formats.fasttext import has_ngrams, is_fasttext
from wordgeom.formats.options import ConvertOptions
from wordgeom.storage.store import exists
from wordgeom.subwords.stored import model_path
from wordgeom.vectors.keyed import Vectors, digest_of

_CHANGING = ("only", "dim", "space", "float16")


def ngrams_path(paths: Paths, options: ConvertOptions) -> Path | None:
    """Return the store of n-grams that a conversion writes beside its target, None for none."""
    target = model_path(paths.target)
    given = paths.given is None and has_ngrams(paths.source)
    given |= target != model_path(paths.source) and exists(model_path(paths.source))
    kept = paths.form != detection.FASTTEXT and _obstacle(paths, options) is None
    return target if given and kept else None


def ngram_notes(paths: Paths, options: ConvertOptions) -> list[str]:
    """Return a note where the target loses the n-grams of the source."""
    obstacle = _obstacle(paths, options)
    if obstacle is None or paths.form == detection.FASTTEXT:
        return []
    lost = f"the n-grams of {paths.source} are not written beside {paths.target} ({obstacle})"
    return [f"{lost}; convert without {obstacle} to keep them"]


def check_shared_model(paths: Paths, read: Vectors, made: Vectors) -> None:
    """Raise OptionError where the source's subword model would be taken for the target's."""
    beside = model_path(paths.target)
    if beside != model_path(paths.source) or not exists(beside) or is_fasttext(paths.source):
        return
    if paths.form == detection.FASTTEXT or digest_of(read) == digest_of(made):
        return
    what, do = f"has the n-grams of {paths.source} alone", "choose an output of another name"
    raise OptionError(what, where=beside, found=paths.target.name, do=do)


def _obstacle(paths: Paths, options: ConvertOptions) -> str | None:
    """Return the option that changes vectors or chooses words, None where there is none."""
    asked = [flag(name) for name in _CHANGING if getattr(options, name) not in (None, False)]
    if paths.form == detection.PROJECTOR:
        asked.append(f"--to {detection.PROJECTOR}")
    return asked[0] if asked else None
