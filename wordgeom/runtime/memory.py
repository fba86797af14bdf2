"""The check of an estimated memory use against --memory, before a computation starts."""

from __future__ import annotations

from wordgeom.core.errors import InputError
from wordgeom.runtime.run_options import GIGABYTE


def check_memory(what: str, needed: int, memory: int, do: str) -> None:
    """Raise InputError where `what` (a plural) needs more than `memory` bytes; do: the remedy."""
    if needed > memory:
        limit = f"more than the memory limit of {memory / GIGABYTE:.1f} GB"
        raise InputError(f"{what} need {needed / GIGABYTE:.1f} GB, {limit}", do=do)
