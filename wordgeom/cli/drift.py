"""`wordgeom drift`: a dynamic model → words by how much they changed, tested."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wordgeom.cli import flags, frame
from wordgeom.drift.options import DriftOptions
from wordgeom.drift.report import ReportOptions
from wordgeom.runtime.run_options import UseOptions

if TYPE_CHECKING:
    from wordgeom.stages.stage import Stage

OPTIONS = (DriftOptions, ReportOptions, UseOptions)
OWN = ("model", "words")


def stage(settings: frame.Settings, where: str) -> Stage:
    """Return the stage of these settings; raises OptionError."""
    from wordgeom.stages.drift import Drift

    options, form, run = frame.options_from(settings, OWN, OPTIONS, where)
    model, words = Path(settings.get("model", "model")), frame.names_in(settings, "words")
    return Drift(model, options, form, run, words)


@click.command("drift")
@click.argument("model", required=False)
@click.argument("words", nargs=-1)
@flags.takes(*OPTIONS)
def command(config: str | None, **given: Any) -> None:
    """Rank the words of MODEL (model) by how much they changed over time, and test the change.

    MODEL is the output of `wordgeom train --method dlsa`. WORDS are reported instead of those that
    changed most. Every test prints its assumptions.
    """
    frame.run_command("drift", given, config)
