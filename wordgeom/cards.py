"""Run cards beside vectors files: what was asked, what came of it, and whether all of it fits.

`vectors.bin` has `vectors.bin.json`. Its `content` is the digest of the vectors; `beside` holds
those of the files that were made with them. A card that does not fit its files counts as none.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from wordgeom import runs
from wordgeom._files import Lock, whole_file
from wordgeom.errors import OutputExistsError
from wordgeom.vectors import Vectors, write_vectors

_SUFFIX = ".json"


def card_path(out: Path) -> Path:
    """Return where the run card of a vectors file lies: `vectors.bin.json`."""
    return out.with_name(out.name + _SUFFIX)


def read_card(out: Path) -> dict[str, Any] | None:
    """Return the run card of a vectors file, or None where there is none that fits it."""
    try:
        card = json.loads(card_path(out).read_bytes())
        if card["content"] == file_content(out):
            return dict(card)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        pass
    return None


def file_content(path: Path) -> dict[str, Any]:
    """Return the size and the digest of a file."""
    with path.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


def up_to_date(out: Path, request: Mapping[str, Any], force: bool, source: str = "matrix") -> bool:
    """Tell whether `out` is what is asked for; raise OutputExistsError if it is something else.

    source: what the inputs are called where others were taken.
    """
    if out.is_dir():
        raise OutputExistsError("is a folder", where=out, do="name a file with -o")
    if force or not out.exists():
        return False
    card = read_card(out)
    if card is None:
        raise runs.refuse_other(out, "no run card that fits it")
    refuse_unlike(out, request, card.get("request", {}), source)
    _refuse_changed(out, card)
    return True


def refuse_unlike(
    out: str | os.PathLike[str],
    asked: Mapping[str, Any],
    made: Mapping[str, Any],
    source: str = "matrix",
) -> None:
    """Raise OutputExistsError where another request was `made` than is `asked` for."""
    how = None
    if asked["command"] != made.get("command"):
        how = f"made by {made.get('command')}"
    how = how or runs.differing_option(asked["options"], made.get("options", {}))
    if how is None and asked["inputs"] != made.get("inputs"):
        how = f"made from another {source}"
    if how is not None:
        raise runs.refuse_other(out, how)


def only_writer(out: str | os.PathLike[str] | None) -> AbstractContextManager[object]:
    """Keep a second writer of `out` away while the block runs."""
    if out is None:
        return nullcontext()
    path = Path(out)
    return Lock(path.with_name(f".{path.name}.lock"), path)


def write(out: Path, vectors: Vectors, card: Mapping[str, Any] | None) -> None:
    """Write vectors, then their card; without one, an older card is removed."""
    write_vectors(out, vectors.words, vectors.matrix)
    if card is None:
        card_path(out).unlink(missing_ok=True)
        return
    with whole_file(card_path(out)) as handle:
        whole = {**card, "content": file_content(out)}
        handle.write(json.dumps(whole, ensure_ascii=False, indent=1).encode("utf-8"))


def _refuse_changed(out: Path, card: Mapping[str, Any]) -> None:
    """Raise OutputExistsError where a file that was made with `out` is not as it was."""
    for name, content in card.get("beside", {}).items():
        path = out.parent / name
        if not path.is_file() or file_content(path) != content:
            raise runs.refuse_other(out, f"{name}, made with it, missing or changed")
