"""Signatures and docstrings of public functions from the option classes behind their keywords."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from wordgeom.api.messages import declare, public
from wordgeom.core.options import Options, options_of, specs

_Function = TypeVar("_Function", bound=Callable[..., Any])
_TAKEN: dict[str, tuple[type[Options], ...]] = {}
_WIDTH = 88


class _Varying:
    """The default of an option that has several."""

    def __repr__(self) -> str:
        return "<depends on the method>"


_VARYING = _Varying()
_FLAG = re.compile(r"--[a-z][a-z-]*")


def takes(*classes: type[Options]) -> Callable[[_Function], _Function]:
    """Let `help` and completion show the options that a function takes as `**options`."""

    def decorate(function: _Function) -> _Function:
        _TAKEN[function.__name__] = classes
        return _shown(function, classes, f"Options:\n{described(*classes)}", others=False)

    return decorate


def takes_any_of(
    kinds: Mapping[str, tuple[type[Options], ...]], preferred: Mapping[str, Mapping[str, Any]]
) -> Callable[[_Function], _Function]:
    """As `takes`, for options that depend on a name, the method, as do some defaults."""
    classes = tuple(dict.fromkeys(cls for some in kinds.values() for cls in some))
    shared = classes if len(kinds) > 1 else ()
    common = [cls for cls in shared if all(cls in some for some in kinds.values())]
    parts = [f"Options of every method:\n{described(*common)}"] if common else []
    for name, some in kinds.items():
        own = described(*(cls for cls in some if cls not in common), preferred=preferred[name])
        parts.append(f"Options of {name}:\n{own}")
    varying = {name for defaults in preferred.values() for name in defaults}
    return lambda function: _shown(
        function, classes, "\n\n".join(parts), others=True, varying=varying
    )


def _shown(
    function: _Function,
    classes: Sequence[type[Options]],
    listed: str,
    *,
    others: bool,
    varying: Collection[str] = (),
) -> _Function:
    """Set the signature, and the docstring with the options listed.

    others: keywords that are not listed are possible; varying: options with several defaults.
    """
    signature = inspect.signature(function)
    named: dict[str, inspect.Parameter] = {}
    for field in (field for cls in classes for field, _ in specs(cls)):
        default = field.default
        if field.name in varying or (field.name in named and named[field.name].default != default):
            default = _VARYING
        named[field.name] = inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=field.type
        )
    own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    rest = list(signature.parameters.values())[len(own) :] if others else []
    shown = signature.replace(parameters=[*own, *named.values(), *rest])
    declare(shown.parameters, classes)
    function = public(function)
    function.__signature__ = shown  # type: ignore[attr-defined]
    function.__doc__ = f"{inspect.getdoc(function)}\n\n{listed}"
    return function


def taken(function: str, given: Mapping[str, Any]) -> list[Any]:
    """Return the option classes of a function, filled; raises OptionError."""
    return options_of(function, given, *_TAKEN[function])


def _keyword(flag: re.Match[str]) -> str:
    return flag[0].removeprefix("--").replace("-", "_")


def described(*classes: type[Options], preferred: Mapping[str, Any] | None = None) -> str:
    """Return options, defaults and meaning, for a docstring; preferred: defaults that replace."""
    lines = []
    for cls in classes:
        for field, spec in specs(cls):
            choices = f" {' | '.join(spec.choices)};" if spec.choices else ""
            meaning = _FLAG.sub(_keyword, spec.help.partition("  [")[0])
            default = (preferred or {}).get(field.name, field.default)
            text = f"{field.name}={default!r}:{choices} {meaning}"
            lines.append(textwrap.fill(text, _WIDTH, initial_indent="    ",
                                       subsequent_indent=" " * 8))  # fmt: skip
    return "\n".join(lines)
