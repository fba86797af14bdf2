"""The n-grams of vectors that are converted: whether the new file has them too.

A subword model belongs to the words and vectors of one file. It is written again for a file in
another format, or with fewer words, but not for changed vectors or a list of chosen words.
"""

from __future__ import annotations

from pathlib import Path

from wordgeom.core.options import flag
from wordgeom.formats import detection
from wordgeom.formats.conversion_paths import Paths
from wordgeom.formats.fasttext import has_ngrams
from wordgeom.formats.options import ConvertOptions
from wordgeom.formats.shared_ngrams import check_no_model, check_other_readers
from wordgeom.storage.files import same_file
from wordgeom.storage.store import exists
from wordgeom.subwords.stored import has_model, model_path
from wordgeom.vectors.keyed import Vectors

_CHANGING = ("only", "dim", "space", "float16")


def ngrams_path(paths: Paths, options: ConvertOptions) -> Path | None:
    """Return the store of n-grams that a conversion writes beside its target, None for none."""
    target = model_path(paths.target)
    given = paths.given is None and has_ngrams(paths.source)
    beside = model_path(paths.source)
    given |= exists(beside) and not same_file(target, beside)
    kept = paths.form != detection.FASTTEXT and _obstacle(paths, options) is None
    return target if given and kept else None


def ngram_notes(paths: Paths, options: ConvertOptions) -> list[str]:
    """Return a note where the target loses the n-grams of the source."""
    obstacle = _obstacle(paths, options)
    if obstacle is None or paths.form == detection.FASTTEXT:
        return []
    lost = f"the n-grams of {paths.source} are not written beside {paths.target} ({obstacle})"
    return [f"{lost}; convert without {obstacle} to keep them"]


def check_shared_model(
    paths: Paths, options: ConvertOptions, made: Vectors, *, force: bool
) -> None:
    """Raise OptionError where a file would be read with the n-grams of other vectors.

    force: whether to replace the target, with its n-grams.
    """
    if paths.form == detection.FASTTEXT:
        return
    if not options.float16 and has_model(paths.target, made):  # made is not rounded here
        return
    if ngrams_path(paths, options) is None:
        check_no_model(
            paths.target, paths.source, force=force and paths.form != detection.PROJECTOR
        )
    else:
        check_other_readers(paths.target)


def _obstacle(paths: Paths, options: ConvertOptions) -> str | None:
    """Return the option that changes vectors or chooses words, None where there is none."""
    asked = [flag(name) for name in _CHANGING if getattr(options, name) not in (None, False)]
    if paths.form == detection.PROJECTOR:
        asked.append(f"--to {detection.PROJECTOR}")
    return asked[0] if asked else None
