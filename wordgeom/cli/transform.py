"""`wordgeom transform`: vectors → the same words' vectors in another form."""

from __future__ import annotations

from pathlib import Path

import click

from wordgeom.cli import frame
from wordgeom.runtime.run_options import RunOptions
from wordgeom.transforms.options import TransformOptions


@click.command("transform", cls=frame.StageCommand, classes=(TransformOptions, RunOptions))
@click.argument("vectors", required=False)
@click.option("-o", "--out", metavar="FILE",
              help="output file: .bin, .txt or .vec  [vectors.transformed.bin]")  # fmt: skip
@click.option("--power-pairs", metavar="FILE",
              help="word pairs that choose --power best  [those of --fit]")  # fmt: skip
@click.option("--fit", metavar="FILE",
              help="word pairs with scores, to which a linear map is fitted")  # fmt: skip
@click.option("--align", metavar="FILE",
              help="vectors to whose axes these are rotated, by the words in common")  # fmt: skip
@click.option("--report", multiple=True, metavar="FILE",
              help="test set to score before and after (repeatable)")  # fmt: skip
def command(settings: frame.Settings, options: TransformOptions, run: RunOptions) -> frame.Stage:
    """Transform VECTORS (vectors.bin), keeping their words.

    The steps run in this order, whatever the order of the options: --normalise, --center,
    --remove-top, --canonical with --dim and --power, --orthonormal, --fit, --align. Zero vectors
    stay zero.
    """
    from wordgeom.stages.transform import Transform

    vectors, out = (
        settings.get("vectors", "vectors.bin"),
        settings.get("out", "vectors.transformed.bin"),
    )
    fit, align, pairs = (frame.path(settings, name) for name in ("fit", "align", "power_pairs"))
    report = frame.names_in(settings, "report")
    return Transform(vectors, options, run, Path(out), fit, align, pairs, report)
