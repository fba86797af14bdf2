"""`wordgeom extend`: vectors and counts → vectors of out-of-vocabulary words too."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wordgeom.cli import flags, frame
from wordgeom.methods.gbu.extension import ExtendOptions
from wordgeom.runtime.run_options import ResumeOptions, RunOptions

if TYPE_CHECKING:
    from wordgeom.stages.stage import Stage

OPTIONS = (ExtendOptions, ResumeOptions, RunOptions)
OWN = ("vectors", "counts", "out", "space")


def stage(settings: frame.Settings, where: str) -> Stage:
    """Return the stage of these settings; raises OptionError."""
    from wordgeom.stages.extend import Extend

    _, resume, run = frame.options_from(settings, OWN, OPTIONS, where)
    vectors, counts = settings.get("vectors", "vectors.bin"), settings.get("counts", "cooc")
    out = Path(settings.get("out", "vectors.extended.bin"))
    return Extend(vectors, Path(counts), settings, run, out, resume, settings.get("space"))


@click.command("extend")
@click.argument("vectors", required=False)
@click.argument("counts", required=False)
@click.option("-o", "--out", metavar="FILE",
              help="output file: .bin, .txt or .vec  [vectors.extended.bin]")  # fmt: skip
@click.option("--space", metavar="CHAR",
              help="replace white space in the words of COUNTS  [as for VECTORS]")  # fmt: skip
@flags.takes(*OPTIONS)
def command(config: str | None, **given: Any) -> None:
    """Infer vectors for the words of COUNTS (cooc) that VECTORS (vectors.bin) lacks.

    COUNTS are of text in which new words co-occur with known ones. Nothing is retrained: known
    words keep their vectors unchanged. The cosine between inferred and actual vectors of held-out
    known words is reported.
    """
    frame.run_command("extend", given, config)
