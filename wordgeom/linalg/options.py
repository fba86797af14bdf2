"""The options of linear algebra: the device, and the eigensolver's basis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wordgeom.core.options import Options, option


@dataclass(frozen=True)
class DeviceOptions(Options):
    """Where the linear algebra runs."""

    device: str = option(
        "cpu", "run linear algebra on the CPU, or by Torch on a GPU (pip install torch)",
        choices=("cpu", "cuda"),
    )  # fmt: skip


def basis() -> Any:
    """Declare how many columns the solver may hold."""
    return option(
        0, "columns of the basis, more of which take memory and save products; 0: 3 K + 128",
        low=0, metavar="N",
    )  # fmt: skip


def restarts() -> Any:
    """Declare how long the solver goes on."""
    return option(30, "how often the basis may be cut and grown anew before it is given up", low=0)
