"""What the formats of records share: the fields asked for, a line a record, refusals by line."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

from wordgeom.core.errors import InputError
from wordgeom.corpus.inputs.readers import Block

SHOWN = 40  # characters of what was found that a message shows


@dataclass(frozen=True)
class Fields:
    """Where a record's text, id and time stand: names or numbers of columns; None: not asked."""

    text: str
    id: str | None = None
    time: str | None = None

    @property
    def asked(self) -> bool:
        """Whether records are to be told apart."""
        return self.id is not None or self.time is not None


def converted(block: Block, text: bytes) -> Block:
    """Return a block with other text in its place."""
    return replace(block, text=text, ascii=text.isascii())


def lines_of(text: bytes) -> list[bytes]:
    """Return the lines of a text without their ends; what follows the last end is one of them."""
    return (text.replace(b"\r\n", b"\n") if b"\r" in text else text).split(b"\n")


def refuse(name: str, line: int, what: str, found: object = "", do: str = "") -> NoReturn:
    """Raise InputError for a line of a file."""
    raise InputError(what, where=f"{name} line {line}", found=found, do=do)


def shown(names: list[str]) -> str:
    """Return names as a message shows them: some, and shortened."""
    cut = [name if len(name) <= SHOWN else name[:SHOWN] + "…" for name in names[:12]]
    return ", ".join(cut) + (", …" if len(names) > len(cut) else "")
