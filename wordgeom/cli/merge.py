"""`wordgeom merge`: several matrices → their sum, difference or union, or all their rows."""

from __future__ import annotations

from pathlib import Path

import click

from wordgeom.cli import frame
from wordgeom.counts.merge_options import MergeOptions
from wordgeom.runtime.run_options import ResumeOptions, RunOptions


@click.command("merge", cls=frame.StageCommand, classes=(MergeOptions, ResumeOptions, RunOptions))
@click.argument("matrices", nargs=-1)
@click.option("-o", "--out", metavar="DIR", help="output directory  [cooc]")
def command(
    settings: frame.Settings, options: MergeOptions, resume: ResumeOptions, run: RunOptions
) -> frame.Stage:
    """Add up the co-occurrence counts in MATRICES, or append the rows of document-term matrices.

    Counts are either all shards of one count (build-cooc --shard), or counts of several texts with
    the same vocabulary (build-cooc --read-vocab); --union takes any vocabularies, --subtract takes
    counts of a text away from counts that include it. With --part, adjacent shards make a larger
    shard, which is merged with the others later. The rows of document-term matrices are appended in
    the order of MATRICES.
    """
    from wordgeom.stages.merging.stage import Merge

    names, out = frame.names_in(settings, "matrices"), Path(settings.get("out", "cooc"))
    return Merge(names, out, run, resume, options, "out" in settings)
