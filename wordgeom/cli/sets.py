"""The options that name files to judge vectors by, shared by `eval` and `compare`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])
KINDS = ("categories", "classify", "regress")
_HELP = {
    "categories": "lines of word, tab, class: purity of clusters; repeatable",
    "classify": "lines of label, tab, text: classification of mean vectors; repeatable",
    "regress": "sequences and numbers: regression on mean vectors; repeatable",
}
_SET = "pairs, analogies or a QVEC oracle; repeatable"


def takes_sets(*, named: bool) -> Callable[[_Command], _Command]:
    """Decorate a command's function with --categories, --classify and --regress.

    named: with --set too, for a command whose positional arguments are something else.
    """

    def decorate(function: _Command) -> _Command:
        for name in reversed(KINDS):
            function = _repeatable(f"--{name}", name, _HELP[name])(function)
        return _repeatable("--set", "sets", _SET)(function) if named else function

    return decorate


def _repeatable(flag: str, name: str, text: str) -> Callable[[_Command], _Command]:
    return click.option(flag, name, multiple=True, metavar="FILE", help=text)
