"""`wordgeom extend`: vectors and counts → vectors of out-of-vocabulary words too."""

from __future__ import annotations

from pathlib import Path

import click

from wordgeom.cli import frame
from wordgeom.methods.gbu.extension import ExtendOptions
from wordgeom.runtime.run_options import ResumeOptions, RunOptions


@click.command("extend", cls=frame.StageCommand, classes=(ExtendOptions, ResumeOptions, RunOptions))
@click.argument("vectors", required=False)
@click.argument("counts", required=False)
@click.option("-o", "--out", metavar="FILE",
              help="output file: .bin, .txt or .vec  [vectors.extended.bin]")  # fmt: skip
@click.option("--space", metavar="CHAR",
              help="replace white space in the words of COUNTS  [as for VECTORS]")  # fmt: skip
def command(
    settings: frame.Settings, _: ExtendOptions, resume: ResumeOptions, run: RunOptions
) -> frame.Stage:
    """Infer vectors for the words of COUNTS (cooc) that VECTORS (vectors.bin) lacks.

    COUNTS must come from text in which new words co-occur with known ones. Nothing is retrained:
    known words keep their vectors unchanged. The cosine between inferred and actual vectors of
    held-out known words is reported.
    """
    from wordgeom.stages.extend import Extend

    vectors, counts = settings.get("vectors", "vectors.bin"), settings.get("counts", "cooc")
    out = Path(settings.get("out", "vectors.extended.bin"))
    return Extend(vectors, Path(counts), settings, run, out, resume, settings.get("space"))
