"""What does not fit into --memory is refused before it starts: the one place that words it."""

from __future__ import annotations

from wordgeom.core.errors import InputError
from wordgeom.runtime.run_options import GIGABYTE


def check_memory(what: str, needed: int, memory: int, do: str) -> None:
    """Raise InputError where `what` (a plural) takes more than `memory` bytes; do: what helps."""
    if needed > memory:
        found = f"{memory / GIGABYTE:.1f} GB to be used"
        raise InputError(f"{what} take {needed / GIGABYTE:.1f} GB", found=found, do=do)
