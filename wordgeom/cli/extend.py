"""`wordgeom extend`: vectors and counts → vectors of the counts' new words too."""

from __future__ import annotations

from typing import Any

import click

from wordgeom.cli import flags, stages
from wordgeom.methods.gbu.extension import ExtendOptions
from wordgeom.runtime.run_options import RunOptions

OPTIONS = (ExtendOptions, RunOptions)
OWN = ("vectors", "counts", "out", "space")


@click.command("extend")
@click.argument("vectors", required=False)
@click.argument("counts", required=False)
@click.option("-o", "--out", metavar="FILE",
              help="file for the vectors: .bin, .txt or .vec  [vectors.extended.bin]")  # fmt: skip
@click.option("--space", metavar="CHAR",
              help="put this for white space in words of COUNTS  [as for VECTORS]")  # fmt: skip
@flags.takes(*OPTIONS)
def command(config: str | None, **given: Any) -> None:
    """Give vectors to the words of COUNTS (cooc) that VECTORS (vectors.bin) lack.

    COUNTS are of text in which new words stand beside known ones. Nothing is trained anew: known
    words keep their vectors bit for bit. How close known words that were held out came to theirs
    is printed.
    """
    stages.run_stage("extend", given, config)
