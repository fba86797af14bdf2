"""`wordgeom run x.toml`: the stages of a configuration file."""

from __future__ import annotations

import click

from wordgeom.cli import flags, stages
from wordgeom.errors import OptionError

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
def command(config: str) -> None:
    """Run the stages of CONFIG."""
    tables = flags.read_tables(config, stages.NAMES)
    if not tables:
        do = f"add one of {', '.join(f'[{name}]' for name in stages.NAMES)}"
        raise OptionError("has no table", where=config, do=do)
    prepared = [
        stages.prepare(name, tables[name], f"{config} [{name}]")
        for name in stages.NAMES
        if name in tables
    ]
    for stage in prepared:
        stage()
