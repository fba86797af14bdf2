"""`wordgeom merge`: several count matrices → their sum."""

from __future__ import annotations

from typing import Any

import click

from wordgeom.cli import flags
from wordgeom.runs import RunOptions


@click.command("merge")
@click.argument("matrices", nargs=-1, required=True)
@click.option("-o", "--out", metavar="DIR", default="cooc", help="folder for the sum  [cooc]")
@flags.takes(RunOptions)
def command(matrices: tuple[str, ...], out: str, config: str | None, **given: Any) -> None:
    """Add up the count MATRICES: all shards of one count, or matrices over the same words."""
    from wordgeom import pipeline

    run = flags.build(RunOptions, flags.values("merge", given, flags.option_names(RunOptions), config))
    built = pipeline.merge_cooc(matrices, out, run, show=True)
    if not run.quiet:
        click.echo(built.summary)
