"""`wordgeom convert`: vectors and matrices of ours as other programs' files, and back."""

from __future__ import annotations

from typing import Any

import click

from wordgeom.cli import flags
from wordgeom.formats.detection import SOURCE_FORMATS, TARGET_FORMATS
from wordgeom.formats.options import ConvertOptions
from wordgeom.runtime.run_options import RunOptions

_FROM = "format of SOURCE, where its name does not tell it"
_TO = "format of TARGET, where its name does not tell it"


@click.command("convert", params=flags.parameters(ConvertOptions, RunOptions))
@click.argument("source")
@click.argument("target")
@click.option("--from", "source_format", type=click.Choice(SOURCE_FORMATS), help=_FROM)
@click.option("--to", "target_format", type=click.Choice(TARGET_FORMATS), help=_TO)
def command(
    source: str,
    target: str,
    source_format: str | None,
    target_format: str | None,
    **given: Any,
) -> None:
    """Rewrite SOURCE as TARGET: vectors as vectors, a matrix's folder as a file or a file as one.

    Vectors: .bin, .txt, .vec, .npy and .npz, text also in .gz; --to projector for TensorBoard's.
    Matrices: .npz (SciPy), .mtx and .mtx.gz (MatrixMarket), .glove (GloVe's records).
    """
    from wordgeom.stages.convert import convert

    values = {name: value for name, value in given.items() if value is not None}
    made = convert(
        source, target, source_format=source_format, target_format=target_format, show=True,
        **values,
    )  # fmt: skip
    if values.get("quiet"):
        return
    for note in made.notes:
        click.echo(f"wordgeom: note: {note}", err=True)
    click.echo(made.summary)
