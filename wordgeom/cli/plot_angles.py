"""`wordgeom plot angles`: angles between words before and after a reduction."""

from __future__ import annotations

from typing import Any

import click

from wordgeom.cli import flags
from wordgeom.cli.command import Command
from wordgeom.evaluation.options import NearPairOptions
from wordgeom.plot.options import PlotOptions
from wordgeom.runtime.run_options import UseOptions


@click.command("angles", cls=Command)
@click.argument("vectors", default="vectors.bin")
@click.option("--reference", required=True, metavar="FILE",
              help="vectors that VECTORS were made from")  # fmt: skip
@click.option("-o", "--out", default="angles.png", metavar="FILE",
              help="output file: .png, .svg or .pdf  [angles.png]")  # fmt: skip
@click.option("--force", is_flag=True, help="overwrite an existing file")
def command(vectors: str, reference: str, out: str, force: bool, **given: Any) -> None:
    """Plot the angles between words in VECTORS (vectors.bin) against those in a reference.

    The left panel has the angles of nearest neighbours and of other pairs, in the reference and in
    VECTORS. The right panel counts pairs by both angles. τ marks near pairs, which faithful vectors
    keep on the diagonal.
    """
    from wordgeom.evaluation.angles import count_angles
    from wordgeom.linalg.device import open_context
    from wordgeom.plot import angles, figure

    near, plot, run = flags.taken(given, NearPairOptions, PlotOptions, UseOptions)
    figure.check(out, [vectors, reference], force=force)
    with open_context(run, show=True) as context:
        found = count_angles(vectors, reference, near, context)
    caption = angles.draw(found, (vectors, reference), out, plot)
    click.echo(f"{out}: {caption}")


command.params.extend(flags.parameters(NearPairOptions, PlotOptions, UseOptions))
