"""`wordgeom merge`: several count matrices → their sum."""

from __future__ import annotations

from pathlib import Path

import click

from wordgeom.cli import frame
from wordgeom.runtime.run_options import ResumeOptions, RunOptions


@click.command("merge", cls=frame.StageCommand, classes=(ResumeOptions, RunOptions))
@click.argument("matrices", nargs=-1, required=True)
@click.option("-o", "--out", metavar="DIR", help="output directory  [cooc]")
def command(settings: frame.Settings, resume: ResumeOptions, run: RunOptions) -> frame.Stage:
    """Add up the co-occurrence counts in MATRICES.

    They are either all shards of one count (build-cooc --shard), or counts of several texts with
    the same vocabulary (build-cooc --read-vocab).
    """
    from wordgeom.stages.merge import Merge

    names, out = frame.names_in(settings, "matrices"), Path(settings.get("out", "cooc"))
    return Merge(names, out, run, resume)
