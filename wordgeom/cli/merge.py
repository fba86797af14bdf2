"""`wordgeom merge`: several count matrices → their sum."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wordgeom.cli import flags, frame
from wordgeom.runtime.run_options import ResumeOptions, RunOptions

if TYPE_CHECKING:
    from wordgeom.stages.stage import Stage

OPTIONS = (ResumeOptions, RunOptions)
OWN = ("matrices", "out")


def stage(settings: frame.Settings, where: str) -> Stage:
    """Return the stage of these settings; raises OptionError."""
    from wordgeom.stages.merge import Merge

    resume, run = frame.options_from(settings, OWN, OPTIONS, where)
    names, out = frame.names_in(settings, "matrices"), Path(settings.get("out", "cooc"))
    return Merge(names, out, run, resume)


@click.command("merge")
@click.argument("matrices", nargs=-1, required=True)
@click.option("-o", "--out", metavar="DIR", help="output directory  [cooc]")
@flags.takes(*OPTIONS)
def command(config: str | None, **given: Any) -> None:
    """Add up the co-occurrence counts in MATRICES.

    They are either all shards of one count (build-cooc --shard), or counts of several texts with
    the same vocabulary (build-cooc --read-vocab).
    """
    frame.run_command("merge", given, config)
