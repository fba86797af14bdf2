"""Option dataclasses as command-line parameters, and the tables of TOML files."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from wordgeom.core.errors import FormatError, MissingInputError, OptionError
from wordgeom.core.options import Options, Spec, check_known, flag, kind, off_flag, specs

_TYPES: dict[str, Any] = {"int": int, "float": float, "str": str}
_METAVARS = {"int": "N", "float": "X", "str": "TEXT"}


def parameters(
    *classes: type[Options], preferred: Mapping[str, Any] | None = None
) -> list[click.Option]:
    """Return one click option for each field; preferred: defaults to show instead."""
    # Two methods may declare one option; it is then the same for both.
    fields = {field.name: (field, spec) for cls in classes for field, spec in specs(cls)}
    return [_parameter(*each, (preferred or {}).get(name, each[0].default))
            for name, each in fields.items()]  # fmt: skip


def taken(given: Mapping[str, Any], *classes: type[Options]) -> list[Any]:
    """Return the option classes of the flags that were given; raises OptionError."""
    values = {name: value for name, value in given.items() if value is not None}
    return [cls.take(values) for cls in classes]


def config_option() -> click.Option:
    """Return the option --config."""
    text = "read options from table [COMMAND] of this TOML file; flags win"
    return click.Option(["--config"], metavar="FILE", help=text)


def read_tables(path: str, known: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Read a TOML file of tables named as in `known`; their keys as fields have them.

    Raises MissingInputError; FormatError; OptionError for another table, naming the nearest.
    """
    tables = _read_toml(path)
    check_known(tables, known, path)
    return {name: _table(table, f"{path} [{name}]") for name, table in tables.items()}


def _parameter(field: dataclasses.Field[Any], spec: Spec, default: Any) -> click.Option:
    name = flag(field.name)
    text = spec.help + _default_text(default)
    if kind(field) == "bool":
        name += f"/{off_flag(field.name)}" if field.default is True else ""
        return click.Option([name], is_flag=True, default=None, help=text)
    if spec.choices:
        return click.Option([name], type=click.Choice(spec.choices), default=None, help=text)
    value = spec.metavar or _METAVARS[kind(field)]
    return click.Option([name], type=_TYPES[kind(field)], default=None, help=text, metavar=value)


def _default_text(default: Any) -> str:
    if default is None or isinstance(default, bool):
        return ""
    return f"  [{shown(default)}]"


def shown(default: Any) -> str:
    """Return a default as users write it."""
    return f"{default:g}" if isinstance(default, float) else str(default)


def _read_toml(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise MissingInputError("no such file", where=path, do="check the path") from None
    except IsADirectoryError:
        raise MissingInputError("is a directory", where=path, do="name a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        do = "correct it, or see configs/ for examples"
        raise FormatError(f"is not valid TOML: {error}", where=path, do=do) from None


def _table(table: Any, where: str) -> dict[str, Any]:
    """Return a table with `min-count` and `min_count` both as `min_count`."""
    if not isinstance(table, dict):
        raise OptionError("is not a table", where=where, found=repr(table))
    named = {key.replace("-", "_"): value for key, value in table.items()}
    if len(named) < len(table):
        twice = next(key for key in table if "-" in key and key.replace("-", "_") in table)
        raise OptionError(f"{twice!r} is given twice", where=where, do="keep one spelling of it")
    return named
