"""`wordgeom plot spectrum`: the eigenvalues in run cards of vectors."""

from __future__ import annotations

from typing import Any

import click

from wordgeom.cli import flags
from wordgeom.cli.command import Command
from wordgeom.plot.options import PlotOptions


@click.command("spectrum", cls=Command)
@click.argument("vectors", nargs=-1, required=True)
@click.option("-o", "--out", default="spectrum.png", metavar="FILE",
              help="output file: .png, .svg or .pdf  [spectrum.png]")  # fmt: skip
@click.option("--force", is_flag=True, help="overwrite an existing file")
def command(vectors: tuple[str, ...], out: str, force: bool, **given: Any) -> None:
    """Plot the spectra in the run cards of VECTORS, and the cumulative share of the first k values.

    pmi-eigs and lsa record their eigenvalues and singular values. A spectrum that flattens early
    suggests fewer dimensions. The answers of --dim auto are marked.
    """
    from wordgeom.plot import figure, spectrum

    options = flags.taken(given, PlotOptions)
    spectra = [spectrum.read_spectrum(path) for path in vectors]
    figure.check(out, vectors, force=force)
    spectrum.draw(spectra, out, *options)
    click.echo(f"{out}: {', '.join(f'{s.name} ({len(s.values)})' for s in spectra)}")


command.params.extend(flags.parameters(PlotOptions))
