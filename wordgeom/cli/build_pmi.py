"""`wordgeom build-pmi`: co-occurrence counts → a PMI matrix."""

from __future__ import annotations

from pathlib import Path

import click

from wordgeom.cli import frame
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.weighting.options import PmiOptions


@click.command("build-pmi", cls=frame.StageCommand, classes=(PmiOptions, ResumeOptions, RunOptions))
@click.argument("counts", required=False)
@click.option("-o", "--out", metavar="DIR", help="output directory  [pmi]")
def command(
    settings: frame.Settings, weighting: PmiOptions, resume: ResumeOptions, run: RunOptions
) -> frame.Stage:
    """Weight the co-occurrence counts in COUNTS (cooc) by pointwise mutual information.

    `wordgeom train` weights counts on the fly; use this command only if you need the matrix.
    """
    from wordgeom.stages.build_pmi import BuildPmi

    counts, out = Path(settings.get("counts", "cooc")), Path(settings.get("out", "pmi"))
    return BuildPmi(counts, out, weighting, run, resume)
