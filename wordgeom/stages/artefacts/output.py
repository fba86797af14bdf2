"""What a method writes: the interface between `train` and the artefacts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from wordgeom.core.options import Options
from wordgeom.methods.contract import Result
from wordgeom.methods.inputs.kind import OpenInput
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.stage import Job, Outcome
from wordgeom.storage.disk_space import Space


@dataclass(frozen=True)
class Target:
    """Where a method writes, and what its rows are.

    first: the first of its inputs, whose rows are the rows of the output; settings: of the command
    line, such as `space`.
    """

    out: Path
    name: str
    method: ModuleType
    options: Options
    first: OpenInput
    settings: Mapping[str, Any]


class MethodOutput(ABC):
    """The output of a method: is it up to date, and how is it written?"""

    settings: ClassVar[tuple[str, ...]] = ()  # of the command line, beside those of every output
    is_store: ClassVar[bool] = False
    notes: tuple[str, ...] = ()

    def __init__(self, target: Target) -> None:
        self.target = target
        self.path = target.out

    @property
    def exported(self) -> Sequence[Path]:
        """Vectors that are written after the output, with run cards of their own."""
        return ()

    @property
    def dimension(self) -> int:
        """The columns of the vectors, 0 as long as a rule is to choose them."""
        found = getattr(self.target.options, "dim", 0)
        return found if isinstance(found, int) else 0

    @property
    @abstractmethod
    def options(self) -> dict[str, Any]:
        """What of the settings decides the content of the output."""

    @abstractmethod
    def up_to_date(self, request: Mapping[str, Any], run: RunOptions) -> Outcome | None:
        """Return the outcome of an earlier run of the same request, None to run.

        Raises OutputExistsError where something else would be overwritten.
        """

    @property
    @abstractmethod
    def space(self) -> Space:
        """The size of all files."""

    @abstractmethod
    def open(self) -> AbstractContextManager[Any]:
        """Return what holds the output while the method runs; `write` gets it."""

    @abstractmethod
    def write(
        self, opened: Any, result: Result, job: Job, request: Mapping[str, Any], run: RunOptions
    ) -> Outcome:
        """Write the result with its run card."""
