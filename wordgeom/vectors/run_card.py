"""Run cards of vectors files: the request, the statistics, and the digests of the files.

The card of `vectors.bin` is `vectors.bin.json`. `content` is the digest of the vectors, `beside`
holds those of the files that were written with them. A card that does not match its files is
ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from wordgeom.core import requests
from wordgeom.core.errors import OutputExistsError, WriteError
from wordgeom.runtime.signals import deferred_signals
from wordgeom.storage.files import (
    Lock,
    atomic_file,
    part_path,
    publish,
    remove,
    staged_file,
    write_error,
)
from wordgeom.storage.opening import reading
from wordgeom.vectors.keyed import Vectors, vector_writer

_SUFFIX = ".json"
_NO_CARD = "has no run card that matches it"
_KINDS = {"request": dict, "statistics": dict, "notes": list, "beside": dict}


def card_path(out: Path) -> Path:
    """Return the path of the run card of a vectors file: `vectors.bin.json`."""
    return out.with_name(out.name + _SUFFIX)


def read_card(out: Path) -> dict[str, Any] | None:
    """Return the run card of a vectors file, or None where none matches the file."""
    card = parse_card(card_path(out))
    try:
        return card if card is not None and card.get("content") == file_content(out) else None
    except OSError:
        return None


def file_content(path: Path) -> dict[str, Any]:
    """Return the size and the SHA-256 of a file. Raises MissingInputError."""
    with reading(path, "a file"), path.open("rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    return {"bytes": path.stat().st_size, "sha256": digest}


def joint_digest(paths: Sequence[Path]) -> str:
    """Return the SHA-256 of a file, or of the digests of several."""
    digests = [str(file_content(path)["sha256"]) for path in paths]
    return (
        digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()
    )


def content(raw: bytes) -> dict[str, Any]:
    """Return the size and the SHA-256 of the content of a file."""
    return {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}


def up_to_date(
    out: Path,
    request: Mapping[str, Any],
    force: bool,
    source: str = "matrix",
    beside: Sequence[Path] = (),
) -> bool:
    """Return whether `out` was made by the same request; raises OutputExistsError if by another.

    source: the name of the inputs, for the message; beside: files written with `out`.
    """
    finish_write(out, beside)
    check_ours(out, force=force)
    if force or not out.exists():
        return False
    card = read_card(out)
    if card is None:
        raise requests.different_content(out, _NO_CARD)
    how = requests.difference(request, card.get("request", {}), source)
    if how is not None:
        raise requests.stale_output(out, how)
    _check_beside(out, card, beside)
    return True


def check_ours(out: Path, *, force: bool) -> None:
    """Raise OutputExistsError for a directory and, without `force`, for a file without a card.

    A card that only waits to be renamed is one.
    """
    if out.is_dir():
        raise OutputExistsError("is a directory", where=out, do="pass a file with -o")
    card = card_path(out)
    if not force and out.exists() and not (card.exists() or part_path(card).exists()):
        raise requests.different_content(out, _NO_CARD)


def writer_lock(out: str | os.PathLike[str] | None) -> AbstractContextManager[object]:
    """Return the lock against a second writer of `out`, which may be None."""
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
    ready: Callable[[], object] | None = None,
) -> None:
    """Write vectors, the lines of the files beside them, and the card, as `write_together` does.

    header: write the header line of a text file. Raises what `write_vectors` raises.
    """
    fill = vector_writer(out, vectors.words, vectors.matrix, header=header)
    parts: dict[Path, Callable[[BinaryIO], object]] = {out: fill}
    for path, lines in (beside or {}).items():
        parts[path] = partial(_fill_lines, lines)
    write_together(out, parts, None if card is None else lambda: card, ready)


def add_card(out: Path, card: Mapping[str, Any]) -> None:
    """Write the card of a file that another function has written. Raises WriteError."""
    text = json.dumps({**card, "content": file_content(out)}, ensure_ascii=False, indent=1)
    with atomic_file(card_path(out)) as handle:
        handle.write(text.encode("utf-8", "surrogatepass"))


def _fill_lines(lines: Iterable[bytes], handle: BinaryIO) -> None:
    handle.writelines(lines)


def _unstage(paths: Iterable[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            part_path(path).unlink()


def _stage_card(out: Path, card: Mapping[str, Any], beside: Iterable[Path]) -> None:
    contents = {os.path.relpath(p, out.parent): file_content(part_path(p)) for p in beside}
    full = {**card, "content": file_content(part_path(out))}
    full |= {"beside": contents} if contents else {}
    text = json.dumps(full, ensure_ascii=False, indent=1)
    with staged_file(card_path(out)) as handle:
        handle.write(text.encode("utf-8", "surrogatepass"))


def write_together(
    out: Path,
    parts: Mapping[Path, Callable[[BinaryIO], object]],
    card: Callable[[], Mapping[str, Any]] | None,
    ready: Callable[[], object] | None = None,
) -> None:
    """Write `out`, the files beside it and their card, as one atomic step.

    parts: functions that write into the open files; card: called once all files are staged, None
    to write no card and remove an older one; ready: called before anything is renamed, writes what
    is committed by itself, such as a store. All files are staged before the first is renamed, so
    that `finish_write` completes a write that was killed in between. Raises WriteError.
    """
    beside, staged = [path for path in parts if path != out], []
    try:
        for path, fill in parts.items():
            with staged_file(path) as handle:
                fill(handle)
            staged.append(path)
        if card is not None:
            _stage_card(out, card(), beside)
            staged.append(card_path(out))
        if ready is not None:
            ready()
    except BaseException:
        _unstage(staged)  # a file that failed to be staged may be another process's
        raise
    with deferred_signals(), _whole(out, [*parts, *([] if card is None else [card_path(out)])]):
        if card is not None:
            finish_write(out, beside)
            return
        for path in parts:
            publish(path)
        remove(card_path(out))


@contextlib.contextmanager
def _whole(out: Path, staged: Sequence[Path]) -> Iterator[None]:
    """Remove the staged files if one of them cannot be renamed. Raises WriteError."""
    try:
        for path in staged:  # nothing is renamed where one cannot be
            if path.is_dir():
                do = "choose another output; no partial output is left"
                raise WriteError("cannot be written: is a directory", where=path, do=do)
        yield
    except OSError as error:
        _unstage(staged)
        raise write_error(out, error) from error


def finish_write(out: Path, beside: Iterable[Path] = ()) -> None:
    """Complete an interrupted `write_together` if all its files are staged; the card comes last.

    beside: the files written with `out`. A card of other files is ignored: a forged one could have
    any file renamed.
    """
    card = parse_card(part_path(card_path(out)))
    files = None if card is None else _contents(out, card, beside)
    if files is None:
        return
    waiting = [path for path, content in files.items() if _holds(part_path(path), content)]
    if all(path in waiting or _holds(path, content) for path, content in files.items()):
        for path in waiting:
            publish(path)
        publish(card_path(out))


def parse_card(path: Path) -> dict[str, Any] | None:
    """Return a run card that may not match its files, None for anything else."""
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
    """Return the digests that a card has of `out` and `beside`, None for a card of other files."""
    named = {os.path.relpath(path, out.parent): path for path in beside}
    digests = card.get("beside", {})
    if digests.keys() != named.keys():
        return None
    return {out: card.get("content"), **{path: digests[name] for name, path in named.items()}}


def _check_beside(out: Path, card: Mapping[str, Any], beside: Sequence[Path]) -> None:
    """Raise OutputExistsError where a file that was written with `out` has changed."""
    files = _contents(out, card, beside)
    if files is None:
        raise requests.different_content(out, "was written together with other files")
    for path in beside:
        if not _holds(path, files[path]):
            how = f"{path}, which was written with it, is missing or has changed"
            raise requests.different_content(out, how)
