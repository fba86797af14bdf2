"""`wordgeom plot spectrum`: run cards of vectors → a picture of their eigenvalues."""

from __future__ import annotations

import click


@click.command("spectrum")
@click.argument("vectors", nargs=-1, required=True)
@click.option("-o", "--out", default="spectrum.png", metavar="FILE",
              help="the picture: .png, .svg or .pdf  [spectrum.png]")  # fmt: skip
@click.option("--force", is_flag=True, help="replace the picture where it exists")
def command(vectors: tuple[str, ...], out: str, force: bool) -> None:
    """Draw the eigenvalues in the run cards of the files VECTORS, and the share of the first k.

    Methods that compute eigenvalues or singular values, such as pmi-eigs and lsa, record them: how
    fast they fall tells how many dimensions are worth having.
    """
    from wordgeom.plot import figure, spectrum

    spectra = [spectrum.read_spectrum(path) for path in vectors]
    figure.check(out, force=force)
    spectrum.draw(spectra, out)
    click.echo(f"{out}: {', '.join(f'{s.name} ({len(s.values)})' for s in spectra)}")
