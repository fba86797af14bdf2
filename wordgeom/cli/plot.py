"""`wordgeom plot`: pictures, a subcommand for each kind."""

from __future__ import annotations

from importlib import import_module

import click

from wordgeom.errors import OptionError
from wordgeom.options import nearest

PICTURES = {"spectrum": "Draw the eigenvalues that vectors were made of."}


class _Pictures(click.Group):
    """A group that imports `plot_NAME` when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(PICTURES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in PICTURES:
            return None
        command: click.Command = import_module(f"wordgeom.cli.plot_{cmd_name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if not ctx.resilient_parsing and args[0] not in PICTURES:
            raise OptionError(f"no such picture {args[0]!r}", do=nearest(args[0], PICTURES))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Pictures (wordgeom plot PICTURE --help tells more)"):
            formatter.write_dl(list(PICTURES.items()))


@click.group("plot", cls=_Pictures, subcommand_metavar="PICTURE [ARGS]...")
def command() -> None:
    """Draw pictures into .png, .svg or .pdf files, by matplotlib."""
