"""`wordgeom merge`: several count matrices → their sum."""

from __future__ import annotations

from typing import Any

import click

from wordgeom.checkpoint.state import ResumeOptions
from wordgeom.cli import flags, stages
from wordgeom.runtime.run_options import RunOptions

OPTIONS = (ResumeOptions, RunOptions)
OWN = ("matrices", "out")


@click.command("merge")
@click.argument("matrices", nargs=-1, required=True)
@click.option("-o", "--out", metavar="DIR", help="folder for the sum  [cooc]")
@flags.takes(*OPTIONS)
def command(config: str | None, **given: Any) -> None:
    """Add up the counts in the folders MATRICES.

    They are all the shards of one count (build-cooc --shard), or counts of several texts over the
    same words (build-cooc --read-vocab).
    """
    stages.run_stage("merge", given, config)
