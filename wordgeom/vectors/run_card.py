"""Run cards beside vectors files: what was asked, what came of it, and whether all of it fits.

`vectors.bin` has `vectors.bin.json`. Its `content` is the digest of the vectors; `beside` holds
those of the files that were made with them. A card that does not fit its files counts as none.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from wordgeom.core import requests
from wordgeom.core.errors import OutputExistsError
from wordgeom.runtime.signals import deferred_signals
from wordgeom.storage.files import Lock, part_path, publish, remove, staged_file
from wordgeom.vectors.keyed import Vectors, vector_writer

_SUFFIX = ".json"
_KINDS = {"request": dict, "statistics": dict, "notes": list, "beside": dict}  # of what is used


def card_path(out: Path) -> Path:
    """Return where the run card of a vectors file lies: `vectors.bin.json`."""
    return out.with_name(out.name + _SUFFIX)


def read_card(out: Path) -> dict[str, Any] | None:
    """Return the run card of a vectors file, or None where there is none that fits it."""
    card = _parsed(card_path(out))
    try:
        return card if card is not None and card.get("content") == file_content(out) else None
    except OSError:
        return None


def file_content(path: Path) -> dict[str, Any]:
    """Return the size and the digest of a file."""
    with path.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


def content(raw: bytes) -> dict[str, Any]:
    """Return the size and the digest of what a file is to hold."""
    return {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}


def up_to_date(
    out: Path,
    request: Mapping[str, Any],
    force: bool,
    source: str = "matrix",
    beside: Sequence[Path] = (),
) -> bool:
    """Tell whether `out` is what is asked for; raise OutputExistsError if it is something else.

    source: what the inputs are called where others were taken; beside: files that are made with it.
    """
    finish_write(out, beside)
    if out.is_dir():
        raise OutputExistsError("is a folder", where=out, do="name a file with -o")
    if force or not out.exists():
        return False
    card = read_card(out)
    if card is None:
        raise requests.different_content(out, "no run card that fits it")
    check_same_request(out, request, card.get("request", {}), source)
    _refuse_changed(out, card, beside)
    return True


def check_same_request(
    out: str | os.PathLike[str],
    asked: Mapping[str, Any],
    made: Mapping[str, Any],
    source: str = "matrix",
) -> None:
    """Raise OutputExistsError where another request was `made` than is `asked` for."""
    how = None
    if asked["command"] != made.get("command"):
        how = f"made by {made.get('command')}"
    options = made.get("options")
    known = options if isinstance(options, dict) else {}
    how = how or requests.differing_option(asked["options"], known)
    if how is None and asked["inputs"] != made.get("inputs"):
        how = f"made from another {source}"
    if how is not None:
        raise requests.different_content(out, how)


def writer_lock(out: str | os.PathLike[str] | None) -> AbstractContextManager[object]:
    """Keep a second writer of `out` away while the block runs."""
    if out is None:
        return nullcontext()
    path = Path(out)
    return Lock(path.with_name(f".{path.name}.lock"), path)


def write(
    out: Path,
    vectors: Vectors,
    card: Mapping[str, Any] | None,
    beside: Mapping[Path, Iterable[bytes]] | None = None,
    *,
    header: bool = True,
) -> None:
    """Write vectors, lines of the files beside them, and the card, as `write_together` does.

    header: of a text. Raises what `write_vectors` raises.
    """
    fill = vector_writer(out, vectors.words, vectors.matrix, header=header)
    parts: dict[Path, Callable[[BinaryIO], object]] = {out: fill}
    for path, lines in (beside or {}).items():
        parts[path] = partial(_fill_lines, lines)
    write_together(out, parts, None if card is None else lambda: card)


def _fill_lines(lines: Iterable[bytes], handle: BinaryIO) -> None:
    handle.writelines(lines)


def _unstage(paths: Iterable[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            part_path(path).unlink()


def _stage_card(out: Path, card: Mapping[str, Any], beside: Iterable[Path]) -> None:
    contents = {os.path.relpath(p, out.parent): file_content(part_path(p)) for p in beside}
    whole = {**card, "content": file_content(part_path(out))}
    whole |= {"beside": contents} if contents else {}
    text = json.dumps(whole, ensure_ascii=False, indent=1)
    with staged_file(card_path(out)) as handle:
        handle.write(text.encode("utf-8", "surrogatepass"))


def write_together(
    out: Path,
    parts: Mapping[Path, Callable[[BinaryIO], object]],
    card: Callable[[], Mapping[str, Any]] | None,
) -> None:
    """Write `out` and what lies beside it, each by what fills it, and their card: all or none.

    All lie ready before the first takes its name: a run that is killed in between is finished by
    `finish_write`. The card is asked for when they lie ready; where there is none, an older one is
    removed. Raises what writing them raises, WriteError.
    """
    beside, staged = [path for path in parts if path != out], []
    try:
        for path, fill in parts.items():
            with staged_file(path) as handle:
                fill(handle)
            staged.append(path)
        if card is not None:
            _stage_card(out, card(), beside)
    except BaseException:
        _unstage(staged)  # what could not be staged may be another process's
        raise
    with deferred_signals():
        if card is not None:
            finish_write(out, beside)
            return
        for path in parts:
            publish(path)
        remove(card_path(out))


def finish_write(out: Path, beside: Iterable[Path] = ()) -> None:
    """Give the files of a write their names, if all of them lie ready; its card lies ready last.

    beside: what is written with `out`. A card of other files is left alone: who made it up could
    have any file renamed.
    """
    card = _parsed(part_path(card_path(out)))
    files = None if card is None else _contents(out, card, beside)
    if files is None:
        return
    waiting = [path for path, content in files.items() if _holds(part_path(path), content)]
    if all(path in waiting or _holds(path, content) for path, content in files.items()):
        for path in waiting:
            publish(path)
        publish(card_path(out))


def _parsed(path: Path) -> dict[str, Any] | None:
    try:
        card = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    known = isinstance(card, dict) and all(
        isinstance(card.get(key, kind()), kind) for key, kind in _KINDS.items()
    )
    return card if known else None


def _holds(path: Path, content: Any) -> bool:
    return path.is_file() and file_content(path) == content


def _contents(out: Path, card: Mapping[str, Any], beside: Iterable[Path]) -> dict[Path, Any] | None:
    """Return what a card tells of `out` and what lies beside it, None for a card of other files."""
    named = {os.path.relpath(path, out.parent): path for path in beside}
    told = card.get("beside", {})
    if told.keys() != named.keys():
        return None
    return {out: card.get("content"), **{path: told[name] for name, path in named.items()}}


def _refuse_changed(out: Path, card: Mapping[str, Any], beside: Sequence[Path]) -> None:
    """Raise OutputExistsError where a file that was made with `out` is not as it was."""
    files = _contents(out, card, beside)
    if files is None:
        raise requests.different_content(out, "made with other files beside it")
    for path in beside:
        if not _holds(path, files[path]):
            raise requests.different_content(out, f"{path}, made with it, missing or changed")
