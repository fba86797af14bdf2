"""Click's errors in our words: what is wrong, what was found, what to do."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

import click

from wordgeom.core.formatting import listed
from wordgeom.core.options import KIND_NAMES

_TYPES = {"integer": "int", "float": "float"}  # click's names of them, and ours
_EXTRA = re.compile(r"Got unexpected extra arguments? \((.*)\)", re.S)


def usage(error: click.UsageError, arguments: Sequence[str], commands: Sequence[str]) -> str:
    """Return the line for a mistake in `arguments`; commands: the names of all commands."""
    known = arguments[: 2 if arguments[0] == "plot" else 1] if arguments[0] in commands else []
    command = error.ctx.command_path if error.ctx else " ".join(["wordgeom", *known])
    see = f"see {command} --help"
    if isinstance(error, click.NoSuchOption) and error.ctx is not None:
        unknown = error.option_name
        return f"{command} has no option {unknown}; {meant(unknown, error.ctx) or see}"
    message = reworded(error)
    extra = _EXTRA.match(message)
    if error.ctx is not None and extra is not None:
        params = error.ctx.command.params
        arguments_of = [_shown(param) for param in params if isinstance(param, click.Argument)]
        takes = f"options only, such as {params[0].opts[-1]} FILE"
        if arguments_of:
            takes = f"no more arguments after {listed(arguments_of)}"
        message = f"{command} takes {takes}, found {extra[1]}"
    return f"{message}; {see}"


def reworded(error: click.UsageError) -> str:
    """Return an error of click in our words, as far as it has common ones; else its own."""
    param, own = getattr(error, "param", None), error.format_message().rstrip(".")
    if isinstance(error, click.MissingParameter) and isinstance(param, click.Argument):
        return _missing(error, param)
    if isinstance(error, click.BadOptionUsage) and "requires an argument" in own:
        return f"{error.option_name} needs a value"
    if isinstance(error, click.BadOptionUsage) and "does not take a value" in own:
        return f"{error.option_name} takes no value"
    found = re.match(r"('.*') is not (?:a valid \w+|one of )", getattr(error, "message", ""), re.S)
    if not isinstance(error, click.BadParameter) or param is None or found is None:
        return own
    name = max(param.opts, key=len)
    if isinstance(param.type, click.Choice):
        return f"{name} must be {listed(list(param.type.choices), 'or')}, found {found[1]}"
    if param.type.name in _TYPES:
        return f"{name} must be {KIND_NAMES[_TYPES[param.type.name]]}, found {found[1]}"
    return own


def meant(unknown: str, context: click.Context) -> str:
    """Return advice on an unknown option of a command, "" for none."""
    params = context.command.get_params(context)
    for param in params:
        spelt = (f"--{param.name}", f"--{param.name}".removesuffix("s"))  # --sets, and --set
        named = isinstance(param, click.Argument) and unknown in spelt
        if named and " " not in _shown(param):
            what = "are arguments" if param.nargs < 0 else "is an argument"
            return f"{_shown(param)} {what}: leave out {unknown}"
    # Without the hyphens, which make any two short names alike.
    known = {name.lstrip("-"): name for param in params for name in param.opts if name[:1] == "-"}
    close = difflib.get_close_matches(unknown.lstrip("-"), known, n=1, cutoff=0.7)
    return f"did you mean {known[close[0]]}?" if close else ""


def _missing(error: click.MissingParameter, param: click.Argument) -> str:
    """Return the line for an argument that is missing, and which ones come before it."""
    if error.ctx is None:
        return f"{_shown(param)} is missing"
    every = [one for one in error.ctx.command.params if isinstance(one, click.Argument)]
    before = [_shown(one) for one in every[: every.index(param)]]
    after = f" after {listed(before)}" if before else ""
    return f"{error.ctx.command_path} needs {_shown(param)}{after}"


def _shown(param: click.Parameter) -> str:
    return param.metavar or str(param.name).upper()
