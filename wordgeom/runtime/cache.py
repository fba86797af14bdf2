"""The user's cache directory, for files that are expensive to compute and can be recomputed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def cache_folder(name: str) -> Path:
    """Return a writable directory of the cache, created if it is missing.

    That is $WORDGEOM_CACHE/name, else `wordgeom/name` in $XDG_CACHE_HOME or ~/.cache. Raises
    OSError, or RuntimeError where no home directory can be found.
    """
    folder = Path(os.environ.get("WORDGEOM_CACHE") or _user_cache() / "wordgeom") / name
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=folder):
        return folder


def _user_cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME")
    return Path(base) if base else Path.home() / ".cache"
