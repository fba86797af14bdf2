"""The check of an estimated memory use against --memory, before a computation starts."""

from __future__ import annotations

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import exceeding


def check_memory(what: str, needed: int, memory: int, do: str) -> None:
    """Raise InputError where `what` (a plural) needs more than `memory` bytes; do: the remedy."""
    if needed > memory:
        need, limit = exceeding(needed, memory)
        raise InputError(f"{what} need {need}, more than the memory limit of {limit}", do=do)
