"""`wordgeom run x.toml`: the stages of a configuration file."""

from __future__ import annotations

import click

from wordgeom.cli import flags, stages
from wordgeom.options import check_known


@click.command("run")
@click.argument("config")
def command(config: str) -> None:
    """Run the stages that CONFIG has a table for, in order, skipping those that are up to date.

    \b
    [build-cooc]
    corpus = "corpus.txt"
    [train]
    method = "gbu"
    """
    tables = flags.read_toml(config)
    check_known(tables, stages.NAMES, config)
    # Every table is looked at before the first stage runs.
    settings = {name: flags.normalised(table, f"{config} [{name}]") for name, table in tables.items()}
    for name in stages.NAMES:
        if name in settings:
            stages.run_with(name, settings[name], f"{config} [{name}]")
