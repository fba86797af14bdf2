"""What a command line comes to."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Answer(NamedTuple):
    """Exit status and output of a command line."""

    status: int
    out: str
    err: str


Ask = Callable[..., Answer]
