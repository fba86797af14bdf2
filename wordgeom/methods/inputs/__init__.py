"""The registry of inputs: what a method can name in NEEDS. A new kind of input is an entry here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from wordgeom.core.options import Options
from wordgeom.methods.inputs.any_matrix import AnyMatrixInput
from wordgeom.methods.inputs.documents import DocumentsInput, TimesInput
from wordgeom.methods.inputs.item_pairs import ItemPairsInput
from wordgeom.methods.inputs.items import AnchorsInput, ItemsInput
from wordgeom.methods.inputs.kind import InputKind, OpenInput, Request
from wordgeom.methods.inputs.matrix import MatrixInput
from wordgeom.methods.inputs.pairs import PairsInput
from wordgeom.methods.inputs.vectors import InitInput, VectorsInput
from wordgeom.methods.inputs.words import MovingInput

_KINDS: tuple[InputKind, ...] = (
    MatrixInput(),
    DocumentsInput(),
    AnyMatrixInput(),
    TimesInput(),
    VectorsInput(),
    InitInput(),
    PairsInput(),
    MovingInput(),
    ItemsInput(),
    ItemPairsInput(),
    AnchorsInput(),
)
INPUTS = {kind.name: kind for kind in _KINDS}
READING = tuple(dict.fromkeys(cls for kind in _KINDS for cls in kind.options))  # their options


def inputs_of(method: ModuleType) -> list[InputKind]:
    """Return the inputs of a method, in the order of its NEEDS."""
    return [INPUTS[name] for name in method.NEEDS]


def settings_of(method: ModuleType) -> dict[str, InputKind]:
    """Return the inputs of a method that have a flag, by setting."""
    return {kind.setting: kind for kind in inputs_of(method) if kind.setting is not None}


def reading_options(method: ModuleType) -> tuple[type[Options], ...]:
    """Return the option classes that say how a method's inputs are read, each once."""
    classes = (cls for kind in inputs_of(method) for cls in kind.options)
    return tuple(dict.fromkeys(classes))


def open_inputs(
    method: ModuleType, name: str, values: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, OpenInput]:
    """Open the inputs of the method `name`, by name; an optional one that is not given is absent.

    values: paths by setting, and options; defaults: the values that the method prefers. Raises
    MissingInputError and what the inputs' formats raise.
    """
    opened: dict[str, OpenInput] = {}
    for kind in inputs_of(method):
        given = kind.default if kind.setting is None else values.get(kind.setting, kind.default)
        if given is None and kind.setting is not None:
            if kind.required:
                raise kind.missing(name)
            continue
        path = None if given is None else Path(given)
        opened[kind.name] = kind.open(Request(path, values, defaults, opened))
    return opened
