"""The options of linear algebra: the device, and those of the eigensolver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, option


@dataclass(frozen=True)
class DeviceOptions(Options):
    """The device of the linear algebra."""

    device: str = option(
        "cpu", "device of the linear algebra; cuda needs Torch and a GPU",
        choices=("cpu", "cuda"),
    )  # fmt: skip


def basis() -> Any:
    """Declare the Krylov basis size."""
    return option(
        0, "Krylov basis size, 0 for 3 K + 128; larger needs more memory and fewer products",
        low=0, metavar="N",
    )  # fmt: skip


def check_basis(basis: int, dim: int) -> None:
    """Raise OptionError for a Krylov basis that has no room for all vectors."""
    if 0 < basis < dim:
        do = f"raise --basis to {dim} or more, or omit it"
        raise OptionError(f"--basis must be at least --dim {dim}", found=basis, do=do)


def restarts() -> Any:
    """Declare the maximum number of restarts."""
    return option(30, "maximum number of thick restarts", low=0)
