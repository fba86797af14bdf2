"""`wordgeom run x.toml`: the stages of a configuration file."""

from __future__ import annotations

import click

from wordgeom.cli import flags, stages
from wordgeom.core.errors import OptionError, OutputExistsError

_HELP = """Run the steps that the TOML file CONFIG has a table for, in order.

What is up to date is not made again. Keys are the options of the step's own command:

\b
  [build-cooc]
  corpus = "corpus.txt"
  window = 10

\b
  [train]
  method = "gbu"
"""


@click.command("run", help=_HELP)
@click.argument("config")
@click.option("--force", is_flag=True, help="replace output that is not up to date")
@click.option("--resume", is_flag=True, help="go on from what an interrupted run left")
@click.option("--quiet", is_flag=True, help="no progress, no summaries")
def command(config: str, force: bool, resume: bool, quiet: bool) -> None:
    """Run the stages of CONFIG."""
    tables = flags.read_tables(config, stages.NAMES)
    if not tables:
        do = f"add one of {', '.join(f'[{name}]' for name in stages.NAMES)}"
        raise OptionError("has no table", where=config, do=do)
    steps = [(name, tables[name]) for name in stages.NAMES if name in tables]
    if resume:
        steps = [(name, _resumed(name, table)) for name, table in steps]
    if quiet:
        steps = [(name, {**table, "quiet": True}) for name, table in steps]
    prepared = [_prepare(name, table, config) for name, table in steps]
    for (name, table), stage in zip(steps, prepared, strict=True):
        try:
            stage()
        except OutputExistsError:
            if not force:
                raise
            _prepare(name, {**table, "force": True}, config)()


def _resumed(name: str, table: stages.Settings) -> stages.Settings:
    return {**table, "resume": True} if name in stages.RESUMABLE else table


def _prepare(name: str, table: stages.Settings, config: str) -> stages.Stage:
    where = f"{config} [{name}]"
    try:
        return stages.prepare(name, table, where)
    except OptionError as error:
        if error.where:
            raise
        raise OptionError(error.what, where=where, found=error.found, do=error.do) from None
