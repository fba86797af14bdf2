"""What a method is: all that its author needs to know.

A method is a module in this package, or a package with a module `method.py`:

    NEEDS    names of its inputs (inputs/__init__.py); rows of the output are those of the first
    MAKES    what it makes: (VECTORS,), (VECTORS, DOCUMENT_VECTORS) or (MODEL,)
    Options  a frozen dataclass of options (core/options.py)
    fit(inputs, options, context) -> Result

and, where it has something to say:

    PACKAGES                         optional packages that it needs: `compare` omits it without
    weighting(options) -> dict       values that it prefers for the options of its inputs
    check(options, given)            raises OptionError where values given by name contradict it
    describe(store) -> dict          what `info` prints of its model
    open_model(path) -> Any          its model as Python callers get it
    exports(options) -> list[Export] vectors that are written beside its model
    model_bytes(first, options)      largest size of its model; first: the first input, open
    scratch_bytes(words, entries, options, memory)   size of its temporary files
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from wordgeom.core.types import Array, Float32
from wordgeom.runtime.context import Context

if TYPE_CHECKING:
    from wordgeom.subwords.model import SubwordModel

__all__ = [
    "DOCUMENT_VECTORS", "MODEL", "VECTORS", "Context", "Export", "Result", "Status",
]  # fmt: skip

VECTORS, DOCUMENT_VECTORS, MODEL = "vectors", "document vectors", "model"
MADE = ((VECTORS,), (VECTORS, DOCUMENT_VECTORS), (MODEL,))  # what MAKES may be


class Status(Enum):
    """How a computation ended; each status has its sentence."""

    CONVERGED = "converged"
    RANK_DEFICIENT = "rank_deficient"
    REACHED_BUDGET = "reached_budget"

    @property
    def sentence(self) -> str:
        """What the status means, for a user."""
        return _SENTENCES[self]

    @classmethod
    def of(cls, *, missed: bool, deficient: bool) -> Status:
        """Return the most serious status: a missed tolerance, then a missing dimension."""
        if missed:
            return cls.REACHED_BUDGET
        return cls.RANK_DEFICIENT if deficient else cls.CONVERGED


_SENTENCES = {
    Status.CONVERGED: "every tolerance was met",
    Status.RANK_DEFICIENT: "fewer dimensions than --dim were found; the other columns are zero",
    Status.REACHED_BUDGET: "the computation stopped before every tolerance was met",
}


@dataclass
class Result:
    """What a method returns.

    vectors (V × K) float32, C-order; arrays: named extras, such as document vectors (n × K) float32
    under "documents", or the parts of a model; subwords: the model of n-grams in the vectors, which
    `train` adds; notes: remarks for the user; statistics: numbers for
    the run card; attributes: of a model's store; summary: of a model, for the last line.
    """

    vectors: Float32
    arrays: Mapping[str, Array] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    statistics: dict[str, Any] = field(default_factory=dict)
    status: Status = Status.CONVERGED
    attributes: Mapping[str, Any] = field(default_factory=dict)
    summary: str = ""
    subwords: SubwordModel | None = None


@dataclass(frozen=True)
class Export:
    """Vectors that are written beside a model, as `model-NAME.bin`.

    options: that decide them, besides those of the model; statistics: of their run card; vectors:
    computes them (V × K) float32 from the model that `open_model` returns; note: returns a remark
    on them, "" for none.
    """

    name: str
    options: Mapping[str, Any]
    statistics: Mapping[str, Any]
    vectors: Callable[[Any], Float32]
    note: Callable[[Any, str | os.PathLike[str]], str]
