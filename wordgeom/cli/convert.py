"""`wordgeom convert`: vectors and matrices to and from other programs' formats."""

from __future__ import annotations

from pathlib import Path

import click

from wordgeom.cli import frame
from wordgeom.core.errors import OptionError
from wordgeom.formats.detection import SOURCE_FORMATS, TARGET_FORMATS
from wordgeom.formats.options import ConvertOptions
from wordgeom.runtime.run_options import RunOptions


@click.command("convert", cls=frame.StageCommand, classes=(ConvertOptions, RunOptions))
@click.argument("source")
@click.argument("target")
@click.option("--from", type=click.Choice(SOURCE_FORMATS),
              help="format of SOURCE  [by its name]")  # fmt: skip
@click.option("--to", type=click.Choice(TARGET_FORMATS),
              help="format of TARGET  [by its name]")  # fmt: skip
def command(settings: frame.Settings, options: ConvertOptions, run: RunOptions) -> frame.Stage:
    """Convert SOURCE to TARGET: vectors to vectors, a matrix to a file, or a file to a matrix.

    Vectors: .bin, .txt, .vec, .npy and .npz, text also in .gz; --to projector for TensorBoard; .bin
    of fastText is recognised, and --to fasttext writes it.
    Matrices: .npz (SciPy), .mtx and .mtx.gz (MatrixMarket), .glove (GloVe's records).
    """
    from wordgeom.stages.convert import conversion

    for name in ("source", "target"):
        if name not in settings:
            raise OptionError(f"convert needs a {name.upper()}", do=f"name the {name} file")
    formats = settings.get("from"), settings.get("to")
    return conversion(Path(settings["source"]), Path(settings["target"]), *formats, options, run)
