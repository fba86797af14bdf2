"""`wordgeom build-pmi`: counts → pointwise mutual information."""

from __future__ import annotations

from typing import Any

import click

from wordgeom.checkpoint.state import ResumeOptions
from wordgeom.cli import flags, stages
from wordgeom.runtime.run_options import RunOptions
from wordgeom.weighting.options import PmiOptions

OPTIONS = (PmiOptions, ResumeOptions, RunOptions)
OWN = ("counts", "out")


@click.command("build-pmi")
@click.argument("counts", required=False)
@click.option("-o", "--out", metavar="DIR", help="folder for the weighted matrix  [pmi]")
@flags.takes(*OPTIONS)
def command(config: str | None, **given: Any) -> None:
    """Weight the counts in the folder COUNTS (cooc) by pointwise mutual information.

    `wordgeom train` does the same on the fly; keep a weighted matrix to look at it, or to hand it
    to another program.
    """
    stages.run_stage("build-pmi", given, config)
