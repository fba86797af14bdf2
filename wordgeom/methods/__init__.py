"""The methods, found by file name: `pmi_eigs.py` is `pmi-eigs`, `gbu/method.py` is `gbu`.

A method is a module with NEEDS, MAKES, Options and fit: see `contract.py`. Adding one touches its
file, its test and its configuration. Directories in $WORDGEOM_METHODS are searched too.
"""

from __future__ import annotations

import ast
import os
import pkgutil
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, suggestion

# What lies here and is no method.
_ELSE = ("contract", "dimension", "inputs", "loss_curve", "notes")
__path__ += [path for path in os.environ.get("WORDGEOM_METHODS", "").split(os.pathsep) if path]


def names() -> list[str]:
    """Return the names of all methods, sorted, without importing any."""
    found = (module.name for module in pkgutil.iter_modules(__path__))
    return sorted(name.replace("_", "-") for name in found if name not in _ELSE)


def summary(name: str) -> str:
    """Return the first line of a method's documentation, without importing the method."""
    spec = find_spec(_module(name))
    source = Path(spec.origin).read_text(encoding="utf-8") if spec and spec.origin else ""
    try:
        return (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
    except SyntaxError as error:
        return f"(cannot be loaded: {error})"


def load(name: str) -> ModuleType:
    """Import a method; raises OptionError for an unknown name, naming the closest."""
    if name not in names():
        raise OptionError(f"unknown method {name!r}", do=suggestion(name, names()))
    module = import_module(_module(name))
    _check(module)
    return module


def preferred(method: ModuleType, options: Options) -> dict[str, Any]:
    """Return the values that a method prefers for the options of its inputs."""
    return method.weighting(options) if hasattr(method, "weighting") else {}


def _module(name: str) -> str:
    """Return the module of a method: a file, or `method.py` in a package."""
    path = f"{__name__}.{name.replace('-', '_')}"
    spec = find_spec(path)
    return f"{path}.method" if spec and spec.submodule_search_locations else path


def _check(module: ModuleType) -> None:
    """Raise TypeError for a module that is not a method: a mistake of who wrote it."""
    from wordgeom.methods.contract import MADE
    from wordgeom.methods.inputs import INPUTS

    needs, options = getattr(module, "NEEDS", ()), getattr(module, "Options", None)
    if not needs or not isinstance(needs, tuple) or not set(needs) <= set(INPUTS):
        raise TypeError(f"{module.__name__}.NEEDS must be a tuple of {', '.join(INPUTS)}")
    if getattr(module, "MAKES", None) not in MADE:
        raise TypeError(f"{module.__name__}.MAKES must be one of {MADE}")
    if not (isinstance(options, type) and issubclass(options, Options)):
        raise TypeError(f"{module.__name__}.Options must be a class of options")
    if not callable(getattr(module, "fit", None)):
        raise TypeError(f"{module.__name__}.fit must be a function")
