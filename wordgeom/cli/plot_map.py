"""`wordgeom plot map`: a map of words, as a picture or as a page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from wordgeom.cli import flags
from wordgeom.cli.command import Command
from wordgeom.plot.map.options import MapOptions
from wordgeom.plot.options import ColourOptions, PlotOptions


@click.command("map", cls=Command)
@click.argument("vectors", default="vectors.bin")
@click.option("-o", "--out", default="map.png", metavar="FILE",
              help="output file: .png, .svg, .pdf or .html  [map.png]")  # fmt: skip
@click.option("--force", is_flag=True, help="overwrite an existing file")
def command(vectors: str, out: str, force: bool, **given: Any) -> None:
    """Draw a map of the words of VECTORS, a file with two columns or more.

    With -o map.html, write a page for browsers: pan, zoom, search, neighbours. More than two
    columns are reduced to their first two principal components. Words are coloured by clusters, by
    --colour-by, or, for vectors that `impute` wrote, by whether they were known or imputed.
    """
    from wordgeom.plot import figure
    from wordgeom.plot.map import page, picture
    from wordgeom.plot.map.words import read_map

    plot, colours, options = flags.taken(given, PlotOptions, ColourOptions, MapOptions)
    read = [vectors, *(path for path in (options.reference, colours.colour_by) if path)]
    if options.words is not None and os.path.exists(options.words):
        read.append(options.words)
    figure.check(out, read, force=force, pages=True)
    if paged := Path(out).suffix.lower() == page.SUFFIX:
        _check_page(plot, out)
    chart = read_map(vectors, options, colours, (page if paged else picture).MOST)
    for note in chart.notes:
        click.echo(f"wordgeom: note: {note}", err=True)
    caption = page.draw(chart, out, plot.title) if paged else picture.draw(chart, out, plot)
    click.echo(f"{out}: {caption}")


command.params.extend(flags.parameters(MapOptions, PlotOptions, ColourOptions))


def _check_page(plot: PlotOptions, out: str) -> None:
    """Raise OptionError for an option that a page does not have."""
    from wordgeom.core.errors import OptionError
    from wordgeom.core.options import flag, off_flag

    for name in ("size", "dpi", "caption"):
        if getattr(plot, name) != getattr(PlotOptions, name):
            option = off_flag(name) if name == "caption" else flag(name)
            do = "leave it out, or choose .png, .svg or .pdf"
            raise OptionError(f"{option} applies to pictures, not to a page", where=out, do=do)
