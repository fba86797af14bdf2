"""`wordgeom run x.toml`: the stages of a configuration file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from wordgeom.cli import flags, frame
from wordgeom.core.errors import OptionError, OutputExistsError

if TYPE_CHECKING:
    from wordgeom.stages.stage import Stage

_HELP = """Run the stages that the TOML file CONFIG has a table for, in pipeline order.

Output that is up to date is not rebuilt. Keys are the options of the stage's own command:

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
@click.option("--force", is_flag=True, help="overwrite output that is not up to date")
@click.option("--resume", is_flag=True, help="resume an interrupted run")
@click.option("--quiet", is_flag=True, help="suppress progress, notes and summaries")
def command(config: str, force: bool, resume: bool, quiet: bool) -> None:
    """Run the stages of CONFIG."""
    tables = flags.read_tables(config, frame.STAGES)
    if not tables:
        do = f"add one of {', '.join(f'[{name}]' for name in frame.STAGES)}"
        raise OptionError("has no table", where=config, do=do)
    steps = [(name, tables[name]) for name in frame.STAGES if name in tables]
    if resume:
        steps = [(name, {**table, "resume": True} if frame.resumable(name) else table)
                 for name, table in steps]  # fmt: skip
    if quiet:
        steps = [(name, {**table, "quiet": True}) for name, table in steps]
    for name, table in steps:  # all are checked before the first one runs
        _prepare(name, table, config)
    for name, table in steps:
        try:
            frame.run_prepared(_prepare(name, table, config))
        except OutputExistsError:
            if not force:
                raise
            frame.run_prepared(_prepare(name, {**table, "force": True}, config))


def _prepare(name: str, table: frame.Settings, config: str) -> Stage:
    where = f"{config} [{name}]"
    try:
        return frame.prepare(name, table, where)
    except OptionError as error:
        if error.where:
            raise
        raise OptionError(error.what, where=where, found=error.found, do=error.do) from None
