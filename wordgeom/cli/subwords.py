"""`wordgeom subwords`: vectors → vectors with those of their n-grams, and a subword model."""

from __future__ import annotations

from pathlib import Path

import click

from wordgeom.cli import frame
from wordgeom.runtime.run_options import RunOptions
from wordgeom.subwords.options import SubwordOptions


@click.command("subwords", cls=frame.StageCommand, classes=(SubwordOptions, RunOptions))
@click.argument("vectors", required=False)
@click.option("-o", "--out", metavar="FILE",
              help="output file: .bin, .txt or .vec  [vectors.ngrams.bin]")  # fmt: skip
def command(settings: frame.Settings, options: SubwordOptions, run: RunOptions) -> frame.Stage:
    """Add subwords to VECTORS (vectors.bin): to each word's vector, those of its n-grams.

    The vectors of n-grams are fitted to those of the words that they occur in. They are written
    beside the output, to NAME.subwords, from which words without a vector get one.
    """
    from wordgeom.stages.subwords import Subwords

    vectors = settings.get("vectors", "vectors.bin")
    return Subwords(vectors, options, run, Path(settings.get("out", "vectors.ngrams.bin")))
