"""`wordgeom plot loss`: the loss curves in run cards of vectors."""

from __future__ import annotations

from typing import Any

import click

from wordgeom.cli import flags
from wordgeom.cli.command import Command
from wordgeom.plot.options import PlotOptions


@click.command("loss", cls=Command)
@click.argument("vectors", nargs=-1, required=True)
@click.option("-o", "--out", default="loss.png", metavar="FILE",
              help="output file: .png, .svg or .pdf  [loss.png]")  # fmt: skip
@click.option("--force", is_flag=True, help="overwrite an existing file")
def command(vectors: tuple[str, ...], out: str, force: bool, **given: Any) -> None:
    """Plot the loss curves in the run cards of VECTORS.

    sgd records the loss of each epoch, ssmds the objective of each step (epoch of --optimiser sgd),
    gbu that of each half of a weighted sweep. A curve that still falls at its end suggests more
    epochs, steps or sweeps.
    """
    from wordgeom.plot import figure, loss

    options = flags.taken(given, PlotOptions)
    curves = [loss.read_curve(path) for path in vectors]
    figure.check(out, vectors, force=force)
    loss.draw(curves, out, *options)
    click.echo(f"{out}: {', '.join(f'{c.name} ({c.total} {c.unit}s)' for c in curves)}")


command.params.extend(flags.parameters(PlotOptions))
