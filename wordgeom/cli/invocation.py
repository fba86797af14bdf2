"""A table of `compare` or `plot` in a configuration file: its keys as the command's arguments."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from wordgeom.cli import flags, ownership
from wordgeom.cli.usage import reworded
from wordgeom.core.errors import MissingInputError, OptionError, OutputExistsError
from wordgeom.core.options import check_known, suggestion
from wordgeom.core.requests import request_of
from wordgeom.runtime.provenance import card, configuration
from wordgeom.storage import store
from wordgeom.storage.store import Store
from wordgeom.vectors import run_card

_NUMBERS: dict[str, Any] = {"integer": int, "integer range": int, "float": (int, float)}
_PICTURES = ("out", "picture")  # parameters that name the file to draw
_LEFT_OUT = (*_PICTURES, "force", "quiet", "threads", "memory", "tmp_dir")  # of a request


@dataclass(frozen=True)
class Invocation:
    """A command that is not a stage, and its table; force: overwrite the picture."""

    name: str
    command: click.Command
    table: Mapping[str, Any]
    force: bool = False

    @property
    def out(self) -> Path | None:
        """The picture that it draws."""
        for param in self.command.params:
            if param.name in _PICTURES:
                named = self.table.get(param.name, param.default)
                return Path(named) if isinstance(named, str) else None
        return None

    @property
    def beside(self) -> tuple[Path, ...]:
        """Nothing is written with a picture."""
        return ()

    @cached_property
    def request(self) -> dict[str, Any]:
        """The table, with None for what it leaves out, and the digests of the files it names."""
        digests = []
        for value in self.table.values():
            for path in map(Path, filter(_is_name, value if isinstance(value, list) else [value])):
                if store.exists(path):
                    digests.append(Store.open(path).digest)
                elif path.is_file() and path != self.out:
                    digests.append(run_card.file_content(path)["sha256"])
        names = dict.fromkeys([param.name for param in self.command.params if param.name])
        given = {**names, **self.table}  # a value that was removed from the table is a change
        options = {name: value for name, value in given.items() if name not in _LEFT_OUT}
        return request_of(self.name, options, digests)

    def check(self) -> None:
        """Parse the table, and check that a picture can be drawn.

        Raises OptionError, and MissingInputError for what a plot would read.
        """
        parsed = self._context(force=True)
        if self.name.startswith("plot "):
            _check_present(self.command, parsed)
        if self.out is not None:
            from wordgeom.plot import figure

            read = [path for _, path in _arguments(self.command, parsed)]
            figure.check(self.out, read, force=True, pages=self.name == "plot map")

    def check_ours(self, *, force: bool) -> None:
        """Raise OutputExistsError for a picture, or kept vectors, that no run may replace."""
        force = force or self.force
        if self.out is not None:
            run_card.check_ours(self.out, force=force)
        if not force:
            self.check_kept()

    def run(self) -> None:
        """Run the command, unless its picture is up to date and all that it makes.

        Raises OutputExistsError for another picture.
        """
        made = self.out is not None and run_card.up_to_date(
            self.out, self.request, self.force, "file"
        )
        own = self._owns_kept()
        if not self.force:
            self.check_kept()
        plot = self.name.startswith("plot ")  # the tables of `compare` are always printed
        with _silenced(plot and bool(self.table.get("quiet"))):
            if plot and made:
                click.echo(f"{self.out}: up to date")
                return
            with self._context(force=made or own or self.force) as context, self._claimed(own):
                self.command.invoke(context)
        if self.out is not None:
            run_card.add_card(self.out, card(self.request, {}, 0.0))

    @property
    def keep(self) -> Path | None:
        """The directory of what `compare` trains, None where that is temporary."""
        named = self.table.get("keep")
        return Path(named) if isinstance(named, str) and _is_name(named) else None

    def _owns_kept(self) -> bool:
        """Return whether the configuration file made all that is in the directory to keep."""
        config = configuration().get("configuration", "")
        return self.keep is not None and ownership.made_all(self.keep, config)

    def check_kept(self) -> None:
        """Raise OutputExistsError for a directory to keep vectors in that has other files."""
        if self.keep is not None and not self._owns_kept():
            what = "exists and has files that this configuration did not make"
            do = "pass --force to write into it, or name another directory"
            raise OutputExistsError(what, where=self.keep, do=do)

    @contextlib.contextmanager
    def _claimed(self, own: bool) -> Iterator[None]:
        """Record the configuration in what the block trains, also if it is interrupted."""
        try:
            yield
        finally:
            if own and self.keep is not None and self.keep.is_dir():
                ownership.claim(self.keep)

    def _context(self, *, force: bool) -> click.Context:
        names = {param.name for param in self.command.params}
        table = {name: value for name, value in self.table.items() if name in names}
        if "force" in names:
            table["force"] = force
        arguments = [*flags_of(self.command, table), "--", *arguments_of(self.command, table)]
        parent = click.get_current_context(silent=True)
        try:
            return self.command.make_context(self.name, arguments, parent=parent)
        except click.MissingParameter as error:
            if error.param is None:
                raise
            name = str(error.param.name)
            do = f"add it; --help calls it {error.param.metavar or name.upper()}"
            raise OptionError(f"needs the key {name}", do=do) from None
        except click.UsageError as error:
            raise OptionError(reworded(error)) from None


def prepare(name: str, table: Mapping[str, Any], where: str) -> Invocation:
    """Return the invocation that a table of `compare` or `plot` describes. Raises OptionError."""
    found: Any = import_module(f"wordgeom.cli.{name}")
    command, keys = found.command, dict(table)
    if isinstance(command, click.Group):
        kinds = command.list_commands(click.Context(command))
        kind = keys.pop("kind", None)
        if kind not in kinds:
            do = suggestion(str(kind), kinds)
            what = "needs a kind" if kind is None else f"kind {kind!r} is unknown"
            raise OptionError(what, where=where, do=do)
        name = f"{name} {kind}"
        command = command.get_command(click.Context(command), kind)
        assert command is not None
    if name == "compare":
        keys = _with_paths(keys)
    return Invocation(name, command, _named(command, keys, where), bool(keys.get("force")))


def _with_paths(keys: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of `compare` with `matrix` and `vectors` as its arguments."""
    vectors = keys.pop("vectors", [])
    matrices = keys.pop("matrix", [])
    given = [each if isinstance(each, list) else [each] for each in (matrices, vectors)]
    return {**keys, "paths": [path for paths in given for path in paths]}


def _named(command: click.Command, keys: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the values by parameter, which a key may name as a flag does: `label`, `json`."""
    spelt = {str(param.name): str(param.name) for param in command.params}
    for param in command.params:
        for opt in param.opts if isinstance(param, click.Option) else []:
            spelt[opt.lstrip("-").replace("-", "_")] = str(param.name)
    known = [key.replace("_", "-") for key in spelt if len(key) > 1] + ["quiet"]
    check_known([key.replace("_", "-") for key in keys], known, where)
    return {spelt.get(key, key): value for key, value in keys.items()}


def flags_of(command: click.Command, table: Mapping[str, Any]) -> Iterator[str]:
    """Yield the options of a table as they are on the command line. Raises OptionError."""
    for param in command.params:
        if not isinstance(param, click.Option) or param.name not in table:
            continue
        value, name = table[param.name], max(param.opts, key=len)
        if param.is_flag:
            _check(isinstance(value, bool), name, "true or false", value)
            off = max(param.secondary_opts, key=len, default="")
            yield from filter(None, [name if value else off])
            continue
        if "," in (param.metavar or ""):
            value = flags.comma_list(str(param.name), value)
        values = value if param.multiple and isinstance(value, list) else [value]
        for one in values:
            yield from (name, _text(param, name, one))


def arguments_of(command: click.Command, table: Mapping[str, Any]) -> Iterator[str]:
    """Yield the arguments of a table as they are on the command line. Raises OptionError."""
    for param in command.params:
        if isinstance(param, click.Argument) and param.name in table:
            value = table[param.name]
            several = value if isinstance(value, list) and param.nargs == -1 else [value]
            yield from (_text(param, str(param.name), one) for one in several)


def _check_present(command: click.Command, parsed: click.Context) -> None:
    """Raise MissingInputError for a file or directory that a plot would read and that is not."""
    for name, path in _arguments(command, parsed):
        if not os.path.exists(path):
            do = f"make it in an earlier table, or name another: {name}"
            raise MissingInputError("no such file or directory", where=path, do=do)


def _arguments(command: click.Command, parsed: click.Context) -> Iterator[tuple[str, str]]:
    """Yield the arguments of a command, which are files and directories, with their names."""
    for param in command.params:
        if isinstance(param, click.Argument):
            given = parsed.params[str(param.name)]
            several = given if isinstance(given, tuple) else (given,)
            yield from ((str(param.name), path) for path in several)


def _text(param: click.Parameter, name: str, value: Any) -> str:
    """Return a value as an argument of the command line. Raises OptionError for a wrong type."""
    if param.type.name in _NUMBERS:
        number = isinstance(value, _NUMBERS[param.type.name]) and not isinstance(value, bool)
        _check(number, name, "a number", value)
        return str(value)
    _check(_is_name(value), name, "text", value)
    return str(value)


def _check(right: bool, name: str, wanted: str, value: Any) -> None:
    if not right:
        raise OptionError(f"{name} must be {wanted}, not {value!r}")


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value != "" and "\0" not in value


@contextlib.contextmanager
def _silenced(quiet: bool) -> Iterator[None]:
    """Suppress what is printed in the block."""
    with contextlib.redirect_stdout(io.StringIO()) if quiet else contextlib.nullcontext():
        yield
