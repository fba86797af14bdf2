"""A command group that imports its commands lazily, so that --help is fast."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from wordgeom.core.errors import OptionError
from wordgeom.core.options import suggestion


class LazyGroup(click.Group):
    """Commands by name with one line of help; each is `command` of the module `prefix` + name.

    noun: for a member, in errors; heading: of the list in --help.
    """

    def __init__(
        self,
        *args: Any,
        members: Mapping[str, str],
        prefix: str,
        noun: str,
        heading: str,
        **kw: Any,
    ) -> None:
        super().__init__(*args, **kw)
        self._members, self._prefix = members, prefix
        self._noun, self._heading = noun, heading

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show --help where there are no arguments."""
        if not args and not ctx.resilient_parsing:
            args = ["--help"]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the list."""
        return list(self._members)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command, or return None for an unknown name."""
        if cmd_name not in self._members:
            return None
        module = import_module(f"{self._prefix}{cmd_name.replace('-', '_')}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the arguments start with; raises OptionError."""
        name = args[0]
        if not ctx.resilient_parsing and name not in self._members:
            help_page = f"see {ctx.command_path} --help"
            do = help_page if name == "help" else suggestion(name, self._members)
            raise OptionError(f"no such {self._noun} {name!r}", do=do)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section(self._heading):
            formatter.write_dl(list(self._members.items()))
