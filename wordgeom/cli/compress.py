"""`wordgeom compress`: vectors → the same words' vectors in fewer bytes."""

from __future__ import annotations

from pathlib import Path

import click

from wordgeom.cli import frame
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.vectors.options import CompressOptions


@click.command(
    "compress", cls=frame.StageCommand, classes=(CompressOptions, ResumeOptions, RunOptions)
)
@click.argument("vectors", required=False)
@click.option("-o", "--out", metavar="FILE", help="output file, .npz  [vectors.compressed.npz]")
@click.option("--set", "sets", multiple=True, metavar="FILE",
              help="test set to score before and after (repeatable)")  # fmt: skip
def command(
    settings: frame.Settings, options: CompressOptions, resume: ResumeOptions, run: RunOptions
) -> frame.Stage:
    """Compress VECTORS (vectors.bin): reduce their dimension, and quantise the numbers.

    Every command reads the result as it reads other vectors. The loss is printed: recall of the
    nearest neighbours, errors of near angles and of norms, and scores of the test sets.
    """
    from wordgeom.stages.compress import Compress

    vectors = settings.get("vectors", "vectors.bin")
    out = settings.get("out", "vectors.compressed.npz")
    return Compress(vectors, options, run, Path(out), frame.names_in(settings, "sets"), resume)
