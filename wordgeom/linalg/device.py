"""Where the linear algebra runs: NumPy on the CPU, or Torch on a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wordgeom.core.errors import OptionError, UnavailableError
from wordgeom.core.options import Options, option

if TYPE_CHECKING:
    from wordgeom.linalg.ops import Ops
    from wordgeom.runtime.pool import Pool

_CHOICES = ("cpu", "cuda")
_TORCH_DEVICES = {"cuda": "cuda", "torch-cpu": "cpu"}  # the second is for tests of parity


@dataclass(frozen=True)
class DeviceOptions(Options):
    """Where the linear algebra runs."""

    device: str = option(
        "cpu", "run linear algebra on the CPU, or by Torch on a GPU (pip install torch)",
        choices=_CHOICES,
    )  # fmt: skip


def get_ops(device: str, pool: Pool) -> Ops:
    """Return the linear algebra for a device: cpu, cuda, or torch-cpu.

    Raises UnavailableError where Torch or CUDA is missing, OptionError for another name.
    """
    # Imported here: this module is below linalg, and `--help` reads its options.
    if device == "cpu":
        from wordgeom.linalg.numpy_ops import NumpyOps

        return NumpyOps(pool)
    if device not in _TORCH_DEVICES:
        raise OptionError("--device must be cpu or cuda", found=repr(device))
    try:
        from wordgeom.linalg.torch_ops import TorchOps
    except (ImportError, OSError) as error:  # OSError: a library that it loads is not there
        do = "pip install torch, or use --device cpu"
        raise UnavailableError(f"--device {device} needs Torch", found=error, do=do) from error
    return TorchOps(_TORCH_DEVICES[device])
