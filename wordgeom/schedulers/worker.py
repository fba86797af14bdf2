"""What a worker does: prove that it belongs to a run, and compute blocks."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

from wordgeom.core.errors import SchedulerError
from wordgeom.runtime.provenance import processor_family, versions
from wordgeom.runtime.scheduler import Result
from wordgeom.schedulers.block_file import Receipt, write_block
from wordgeom.schedulers.shared_array import forget_arrays
from wordgeom.schedulers.shared_folder import sees_token

_Block = TypeVar("_Block")
_Spec = TypeVar("_Spec")
REMEDY = "start scheduler and workers with one installation, on a file system that they share"
_SAME = ("wordgeom", "numpy")  # packages whose versions must be those of the client


@dataclass(frozen=True)
class Run:
    """What a worker checks: the shared folder, its token, and the client's versions and CPU."""

    folder: str
    token: str
    versions: tuple[tuple[str, str], ...]
    family: str

    @classmethod
    def of(cls, folder: Path, token: str) -> Run:
        """Return the run of this process."""
        return cls(str(folder), token, tuple(sorted(versions().items())), processor_family())


@dataclass(frozen=True)
class Admission:
    """The answer of a worker: why it cannot compute blocks, "" if it can; what may differ."""

    refusal: str = ""
    warning: str = ""


def admit(run: Run) -> Admission:
    """Compare this worker with the client of a run."""
    host, own = socket.gethostname(), versions()
    for package, version in run.versions:
        if package in _SAME and own.get(package) != version:
            found = own.get(package, "no version")
            return Admission(f"the worker on {host} has {package} {found}, not {version}")
    if not sees_token(run.folder, run.token):
        return Admission(f"the worker on {host} does not see the shared folder {run.folder}")
    differing = [
        f"{package} {own.get(package)} instead of {version}"
        for package, version in run.versions
        if package not in ("python", *_SAME) and own.get(package) != version
    ]
    if processor_family() != run.family:
        differing.append(f"a {processor_family()} processor instead of {run.family}")
    if not differing:
        return Admission()
    return Admission(warning=f"the worker on {host} has {', '.join(differing)}")


_admitted = lru_cache(maxsize=8)(admit)


def compute_block(
    run: Run, compute: Callable[[_Block, _Spec], Result], block: _Block, spec: _Spec
) -> Receipt:
    """Compute a block and write its result to the shared folder.

    Raises SchedulerError where this worker does not belong to the run, and what `compute` raises.
    """
    admission = _admitted(run)
    if admission.refusal:
        raise SchedulerError(admission.refusal, do=REMEDY)
    receipt = write_block(Path(run.folder), compute(block, spec))
    return replace(receipt, warning=admission.warning)


def forget(run: Run) -> None:
    """Close the files of a run that has ended."""
    forget_arrays(run.folder)
