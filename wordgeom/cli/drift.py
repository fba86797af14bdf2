"""`wordgeom drift`: a dynamic model → words by how much they changed, tested."""

from __future__ import annotations

from pathlib import Path

import click

from wordgeom.cli import frame
from wordgeom.drift.options import DriftOptions
from wordgeom.drift.report import ReportOptions
from wordgeom.runtime.run_options import UseOptions


@click.command("drift", cls=frame.StageCommand, classes=(DriftOptions, ReportOptions, UseOptions))
@click.argument("model", required=False)
@click.argument("words", nargs=-1)
def command(
    settings: frame.Settings, options: DriftOptions, form: ReportOptions, run: UseOptions
) -> frame.Stage:
    """Rank the words of MODEL (model) by how much they changed over time, and test the change.

    MODEL is the output of `wordgeom train --method dlsa`. WORDS are reported instead of those that
    changed most. Every test prints its assumptions.
    """
    from wordgeom.stages.drift import Drift

    model, words = Path(settings.get("model", "model")), frame.names_in(settings, "words")
    return Drift(model, options, form, run, words)
