"""Are the inputs of a recorded run still there, and the same?"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from wordgeom.core.errors import MissingInputError, StaleError
from wordgeom.corpus.inputs.part_digests import parts_of
from wordgeom.corpus.inputs.readers import STDIN, has_digest
from wordgeom.stages.invocation import input_digest

_ALLOW = "restore the input, or pass --changed-inputs to run with what there is"
_TEXTS = ("corpus", "texts")  # settings that can name standard input


def changed_inputs(inputs: Mapping[str, str], *, allowed: bool) -> list[str]:
    """Return the inputs whose digest differs, relative to the working directory.

    Raises MissingInputError for one that is missing; StaleError for one that changed, unless
    that is `allowed`.
    """
    changed = []
    for path, digest in inputs.items():
        if not os.path.exists(path):
            do = "restore it, or name the directory to run in with --folder"
            raise MissingInputError("no such input of the recorded run", where=path, do=do)
        if not _is_same(path, digest):
            changed.append(path)
    if changed and not allowed:
        raise StaleError("has changed since the recorded run", where=changed[0], do=_ALLOW)
    return changed


def _is_same(path: str, digest: str) -> bool:
    of_parts = parts_of(digest) is not None
    return has_digest(path, digest) if of_parts else input_digest(path) == digest


def new_inputs(
    paths: Iterable[str | os.PathLike[str]], inputs: Mapping[str, str], *, allowed: bool
) -> list[str]:
    """Return the paths that were no inputs of the recorded run; raises StaleError, as above."""
    new = [os.fspath(path) for path in paths if os.fspath(path) not in inputs]
    if new and not allowed:
        raise StaleError("is not among the inputs of the recorded run", where=new[0], do=_ALLOW)
    return new


def check_readable_again(settings: Mapping[str, Any]) -> None:
    """Raise MissingInputError where a setting names standard input, a pipe or a device."""
    for name, value in settings.items():
        for text in filter(lambda one: isinstance(one, str), [value, *_listed(value)]):
            special = os.path.exists(text) and not (os.path.isfile(text) or os.path.isdir(text))
            if special or (name in _TEXTS and text == STDIN):
                what = "was read from a pipe or standard input, which cannot be read again"
                raise MissingInputError(what, where=text, do="run the command on a file")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
