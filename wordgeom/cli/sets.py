"""The options that name test sets, shared by `eval` and `compare`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])
KINDS = ("categories", "classify", "regress", "reference")
_HELP = {
    "categories": "categorisation set: word TAB class lines (repeatable)",
    "classify": "text classification set: label TAB text lines (repeatable)",
    "regress": "regression set: table of sequences and numbers (repeatable)",
    "reference": "vectors whose neighbourhoods and angles should be preserved (repeatable)",
}
_SET = "word pairs, analogies or QVEC features (repeatable)"


def takes_sets(*, named: bool) -> Callable[[_Command], _Command]:
    """Decorate a command's function with --categories, --classify, --regress and --reference.

    named: also with --set, for a command with other positional arguments.
    """

    def decorate(function: _Command) -> _Command:
        for name in reversed(KINDS):
            function = _repeatable(f"--{name}", name, _HELP[name])(function)
        return _repeatable("--set", "sets", _SET)(function) if named else function

    return decorate


def _repeatable(flag: str, name: str, text: str) -> Callable[[_Command], _Command]:
    return click.option(flag, name, multiple=True, metavar="FILE", help=text)
