"""What record formats share: requested fields, one line of text per record, errors with a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import several
from wordgeom.corpus.inputs.readers import Block, Source

SHOWN = 40  # characters of a value that a message shows


@dataclass(frozen=True)
class Fields:
    """Fields with the text, id and time of a record: names or column numbers; None: not used.

    skip: whether a malformed record is skipped and counted, instead of an error.
    """

    text: str
    id: str | None = None
    time: str | None = None
    skip: bool = False

    @property
    def has_labels(self) -> bool:
        """Whether an id or a time is requested."""
        return self.id is not None or self.time is not None

    def reject(self, error: InputError, source: Source) -> None:
        """Count a malformed record in `source`, or raise its error."""
        if not self.skip:
            do = f"{error.do}, or pass --bad-records skip"
            raise InputError(error.what, where=error.where, found=error.found, do=do) from None
        source.bad_records += 1
        source.first_bad = source.first_bad or str(error)


def with_text(block: Block, text: bytes) -> Block:
    """Return a block with its text replaced."""
    return replace(block, text=text, ascii=text.isascii())


def lines_of(text: bytes) -> list[bytes]:
    """Split a text into lines without their ends; the last one is what follows the last end."""
    return (text.replace(b"\r\n", b"\n") if b"\r" in text else text).split(b"\n")


def fail(name: str, line: int, what: str, found: object = "", do: str = "") -> NoReturn:
    """Raise InputError for a line of a file."""
    raise InputError(what, where=f"{name} line {line}", found=found, do=do)


def skipped_note(sources: Sequence[Source]) -> list[str]:
    """Return a note on the malformed records that were skipped, if there are any."""
    number = sum(source.bad_records for source in sources)
    first = next((source.first_bad for source in sources if source.first_bad), "")
    skipped = several(number, "malformed record", "malformed records")
    return [f"skipped {skipped}; the first: {first}"] if number else []


def lost_notes(sources: Sequence[Source]) -> list[str]:
    """Return notes on malformed records that were skipped, and on invalid bytes."""
    repaired = sum(source.repaired for source in sources)
    one = "byte that is not UTF-8 was replaced or skipped"
    many = "bytes that are not UTF-8 were replaced or skipped"
    return skipped_note(sources) + ([several(repaired, one, many)] if repaired else [])


def shown(names: list[str]) -> str:
    """Return names for a message: the first few, each shortened."""
    cut = [name if len(name) <= SHOWN else name[:SHOWN] + "…" for name in names[:12]]
    return ", ".join(cut) + (", …" if len(names) > len(cut) else "")
