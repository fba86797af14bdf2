"""`wordgeom plot imputation`: imputed entities among their nearest neighbours."""

from __future__ import annotations

from typing import Any

import click

from wordgeom.cli import flags
from wordgeom.cli.command import Command
from wordgeom.plot.options import ColourOptions, PlotOptions


@click.command("imputation", cls=Command)
@click.argument("vectors", default="vectors.imputed.bin")
@click.option("--table", metavar="FILE", help="trust table  [beside VECTORS, .tsv]")
@click.option("--label", "labels", multiple=True, metavar="NAME",
              help="label this entity (repeatable)  [12 imputed ones]")  # fmt: skip
@click.option("--around", metavar="NAME", help="plot only this entity, its neighbours and theirs")
@click.option("-o", "--out", default="imputation.png", metavar="FILE",
              help="output file: .png, .svg or .pdf  [imputation.png]")  # fmt: skip
@click.option("--force", is_flag=True, help="overwrite an existing file")
def command(
    vectors: str, table: str | None, labels: tuple[str, ...], around: str | None, out: str,
    force: bool, **given: Any,
) -> None:  # fmt: skip
    """Plot the entities of VECTORS (vectors.imputed.bin) with the neighbours they depend on.

    Known entities are filled, imputed ones hollow; the width of a line is the weight of a
    neighbour. Labels name the chosen entities and the known ones that support them. The axes are
    the first two principal components of the plotted vectors; with --around, of the entity and its
    neighbours.
    """
    from wordgeom.plot import figure, imputation

    options = flags.taken(given, PlotOptions, ColourOptions)
    figure.check(out, [vectors, *([table] if table else [])], force=force)
    chart = imputation.read_chart(vectors, table, labels, around)
    caption = imputation.draw(chart, out, *options)
    click.echo(f"{out}: {caption}")


command.params.extend(flags.parameters(PlotOptions, ColourOptions))
