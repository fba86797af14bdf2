"""Option dataclasses as command-line parameters, and their values from TOML files and flags."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from wordgeom.errors import FormatError, MissingInputError, OptionError
from wordgeom.options import Options, Spec, check_known, flag, nearest, specs

_Command = TypeVar("_Command", bound=Callable[..., Any])
_TYPES: dict[str, Any] = {"int": int, "float": float, "str": str, "str | None": str}


def parameters(*classes: type[Options]) -> list[click.Option]:
    """Return one click option for each field of the classes."""
    return [_parameter(field, spec) for cls in classes for field, spec in specs(cls)]


def takes(*classes: type[Options]) -> Callable[[_Command], _Command]:
    """Decorate a command's function with the options of the classes, and --config."""

    def decorate(function: _Command) -> _Command:
        made = [*parameters(*classes), config_option()]
        existing = getattr(function, "__click_params__", [])
        function.__click_params__ = [*reversed(made), *existing]  # type: ignore[attr-defined]
        return function

    return decorate


def config_option() -> click.Option:
    """Return the option --config."""
    text = "read options from this TOML file's table of the command's name; flags come first"
    return click.Option(["--config"], metavar="FILE", help=text)


def _parameter(field: dataclasses.Field[Any], spec: Spec) -> click.Option:
    name = flag(field.name)
    text = spec.help + _default_text(field.default)
    if field.type == "bool":
        return click.Option([name], is_flag=True, default=None, help=text)
    kind = click.Choice(spec.choices) if spec.choices else _TYPES[str(field.type)]
    return click.Option([name], type=kind, default=None, help=text, metavar=spec.metavar or None)


def _default_text(default: Any) -> str:
    if default is None or default is False:
        return ""
    return f"  [{default:g}]" if isinstance(default, float) else f"  [{default}]"


def values(
    command: str, given: Mapping[str, Any], known: Iterable[str], config: str | None
) -> dict[str, Any]:
    """Return the options that were set: by the table of `command` in `config`, then by flags.

    known: the names that the table may hold. Raises OptionError, FormatError, MissingInputError.
    """
    table = {} if config is None else read_table(config, command)
    check_known(table, known, f"{config} [{command}]")
    flags = {k: v for k, v in given.items() if v is not None and v != ()}
    return {**table, **flags}


def option_names(*classes: type[Options]) -> list[str]:
    """Return the names of all fields of the classes."""
    return [field.name for cls in classes for field, _ in specs(cls)]


def build(cls: type[Any], found: Mapping[str, Any]) -> Any:
    """Make an option dataclass of those of its values that were set, with types checked."""
    for field, _ in specs(cls):
        if field.name in found:
            _check_type(field, found[field.name])
    return cls.take(found)


def _check_type(field: dataclasses.Field[Any], value: Any) -> None:
    wanted = {"int": int, "float": (int, float), "bool": bool}.get(str(field.type), str)
    right = isinstance(value, wanted)  # type: ignore[arg-type]
    if right and (str(field.type) == "bool" or not isinstance(value, bool)):
        return
    kind = str(field.type).removesuffix(" | None")
    names = {"int": "a whole number", "float": "a number", "bool": "true or false"}
    raise OptionError(f"{flag(field.name)} must be {names.get(kind, 'text')}", found=repr(value))


def read_toml(path: str) -> dict[str, Any]:
    """Read a TOML file; raises MissingInputError or FormatError."""
    try:
        return tomllib.loads(Path(path).read_bytes().decode("utf-8"))
    except FileNotFoundError:
        raise MissingInputError("no such file", where=path, do="check the path") from None
    except IsADirectoryError:
        raise MissingInputError("is a directory", where=path, do="name a TOML file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise FormatError("is not TOML", where=path, found=str(error), do="mend it") from None


def read_table(path: str, command: str) -> dict[str, Any]:
    """Return the table of a command in a TOML file, with names as fields have them."""
    tables = read_toml(path)
    if command not in tables:
        do = nearest(command, tables) if tables else "write one"
        raise OptionError(f"has no table [{command}]", where=path, do=do)
    return normalised(tables[command], f"{path} [{command}]")


def normalised(table: Any, where: str) -> dict[str, Any]:
    """Return a table with `min-count` and `min_count` both as `min_count`."""
    if not isinstance(table, dict):
        raise OptionError("is not a table", where=where, found=repr(table))
    return {key.replace("-", "_"): value for key, value in table.items()}
