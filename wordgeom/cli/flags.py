"""Option dataclasses as command-line parameters, and the tables of TOML files."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import click

from wordgeom.core.errors import FormatError, OptionError
from wordgeom.core.formatting import listed
from wordgeom.core.options import Options, Spec, flag, kind, off_flag, specs, suggestion

_TYPES: dict[str, Any] = {"int": int, "float": float, "str": str}
_METAVARS = {"int": "N", "float": "X", "str": "TEXT"}


class Declared(click.Option):
    """The flag of an option that an option class declares; spec: what it accepts."""

    def __init__(self, spec: Spec, name: str, text: str, **more: Any) -> None:
        super().__init__([name], default=None, help=text, **more)
        self.spec = spec


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


def read_tables(path: str, known: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Read the tables of a TOML file, [name] or [[name]]; their keys as fields have them.

    Raises MissingInputError; FormatError; OptionError for a name that is not `known`.
    """
    read, names = _read_toml(path), list(known)
    for name in read:
        if name not in names:
            raise OptionError(f"unknown table [{name}]", where=path, do=suggestion(name, names))
    tables = {name: value if isinstance(value, list) else [value] for name, value in read.items()}
    return {
        name: [_table(one, place(path, name, k, len(several))) for k, one in enumerate(several)]
        for name, several in tables.items()
    }


def place(path: str, name: str, number: int, of: int) -> str:
    """Return how messages name a table: `x.toml [train]`, or `x.toml [[train]] 2` of several."""
    return f"{path} [[{name}]] {number + 1}" if of > 1 else f"{path} [{name}]"


def one_table(path: str, name: str, known: Iterable[str]) -> dict[str, Any] | None:
    """Return the only table of a command in a TOML file, None where there is none."""
    tables = read_tables(path, known).get(name, [])
    if len(tables) > 1:
        what, do = f"has {len(tables)} tables [[{name}]]", "use wordgeom run, or a file with one"
        raise OptionError(f"{what}; --config takes one", where=path, do=do)
    return tables[0] if tables else None


def join_lists(settings: Mapping[str, Any], classes: Iterable[type[Options]]) -> dict[str, Any]:
    """Return settings in which an array for an option such as `TIME,TIME` is joined by commas."""
    lists = [field.name for cls in classes for field, spec in specs(cls) if "," in spec.metavar]
    return {k: comma_list(k, v) if k in lists else v for k, v in settings.items()}


def comma_list(name: str, value: Any) -> Any:
    """Return an array, or a number or date, as the text of an option that takes `A,B`."""
    items = value if isinstance(value, list) else [value]
    if any(isinstance(item, (bool, list, dict)) for item in items) or not items:
        raise OptionError(f"{flag(name)} must be text or an array of values, not {value!r}")
    texts = [item.isoformat() if isinstance(item, date) else str(item) for item in items]
    if isinstance(value, list) and (bad := [text for text in texts if "," in text]):
        raise OptionError(f"{flag(name)} has a value with a comma: {bad[0]!r}", do="split it")
    return ",".join(texts)


def _parameter(field: dataclasses.Field[Any], spec: Spec, default: Any) -> Declared:
    name, text = flag(field.name), spec.help + _default_text(default)
    if kind(field) == "bool":
        name += f"/{off_flag(field.name)}" if field.default is True else ""
        return Declared(spec, name, text, is_flag=True)
    if spec.choices:
        return Declared(spec, name, text, type=click.Choice(spec.choices))
    value = spec.metavar or _METAVARS[kind(field)]
    type_ = _number_or(spec.words) if spec.words else _TYPES[kind(field)]
    return Declared(spec, name, text, type=type_, metavar=value)


def _number_or(words: Sequence[str]) -> Callable[[str], int | str]:
    """Return a function from the text of an option to its number, or to one of the words."""

    def convert(text: str) -> int | str:
        try:
            return text if text in words else int(text)
        except ValueError:
            wanted = listed(["an integer", *words], "or")
            raise click.BadParameter(f"{text!r} is not {wanted}.") from None

    return convert


def _default_text(default: Any) -> str:
    if isinstance(default, bool):
        return " (default)" if default else ""
    if default is None:
        return ""
    return f"  [{shown(default)}]"


def shown(default: Any) -> str:
    """Return a default as users write it."""
    return f"{default:g}" if isinstance(default, float) else str(default)


def _read_toml(path: str) -> dict[str, Any]:
    from wordgeom.storage.opening import reading

    try:
        with reading(path, "a TOML file"):
            return tomllib.loads(Path(path).read_bytes().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        what = f"is not UTF-8 (byte {error.object[error.start]:#04x} at {error.start:,})"
        raise FormatError(what, where=path, do="save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        do = "correct it, or see configs/ for examples"
        if re.match(r"Cannot (declare|overwrite)", str(error)):
            do = "merge the tables, or name each of several with double brackets: [[train]]"
        raise FormatError(f"is not valid TOML: {error}", where=path, do=do) from None


def _table(table: Any, where: str) -> dict[str, Any]:
    """Return a table with `min-count` and `min_count` both as `min_count`."""
    if not isinstance(table, dict):
        raise OptionError(f"is not a table but {table!r}", where=where, do="write [name] above it")
    named = {key.replace("-", "_"): value for key, value in table.items()}
    if len(named) < len(table):
        twice = next(key for key in table if "-" in key and key.replace("-", "_") in table)
        raise OptionError(f"{twice!r} is given twice", where=where, do="keep one spelling of it")
    return named
