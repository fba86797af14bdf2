"""`wordgeom build-pmi`: co-occurrence counts → a PMI matrix."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wordgeom.cli import flags, frame
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.weighting.options import PmiOptions

if TYPE_CHECKING:
    from wordgeom.stages.stage import Stage

OPTIONS = (PmiOptions, ResumeOptions, RunOptions)
OWN = ("counts", "out")


def stage(settings: frame.Settings, where: str) -> Stage:
    """Return the stage of these settings; raises OptionError."""
    from wordgeom.stages.build_pmi import BuildPmi

    weighting, resume, run = frame.options_from(settings, OWN, OPTIONS, where)
    counts, out = Path(settings.get("counts", "cooc")), Path(settings.get("out", "pmi"))
    return BuildPmi(counts, out, weighting, run, resume)


@click.command("build-pmi")
@click.argument("counts", required=False)
@click.option("-o", "--out", metavar="DIR", help="output directory  [pmi]")
@flags.takes(*OPTIONS)
def command(config: str | None, **given: Any) -> None:
    """Weight the co-occurrence counts in COUNTS (cooc) by pointwise mutual information.

    `wordgeom train` weights counts on the fly; this command is for those who want the matrix.
    """
    frame.run_command("build-pmi", given, config)
