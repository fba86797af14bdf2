"""The options of the eigensolver, shared by the methods that use it."""

from __future__ import annotations

from typing import Any

from wordgeom.core.options import option


def basis() -> Any:
    """Declare how many columns the solver may hold."""
    return option(
        0, "columns of the basis, more of which take memory and save products; 0: 3 K + 128",
        low=0, metavar="N",
    )  # fmt: skip


def restarts() -> Any:
    """Declare how long the solver goes on."""
    return option(30, "how often the basis may be cut and grown anew before it is given up", low=0)
