"""`wordgeom drift`: a dynamic model → words by how much they changed, tested."""

from __future__ import annotations

from pathlib import Path

import click

from wordgeom.cli import frame
from wordgeom.drift.measures.options import MeasureOptions
from wordgeom.drift.options import DriftOptions
from wordgeom.drift.report import ReportOptions
from wordgeom.runtime.run_options import ResumeOptions, UseOptions

_CLASSES = (DriftOptions, MeasureOptions, ReportOptions, ResumeOptions, UseOptions)


@click.command("drift", cls=frame.StageCommand, classes=_CLASSES)
@click.argument("model", required=False)
@click.argument("words", nargs=-1)
@click.option("--from", "from", metavar="VECTORS", help="earlier vectors; MODEL is the later file")
def command(
    settings: frame.Settings, options: DriftOptions, measure: MeasureOptions, form: ReportOptions,
    resume: ResumeOptions, run: UseOptions,
) -> frame.Stage:  # fmt: skip
    """Rank the words of MODEL (model) by how much they changed over time, and test the change.

    MODEL is the output of `wordgeom train --method dlsa`; with --from, a file of the later vectors.
    WORDS are reported instead of those that changed most. Every test prints its assumptions.
    """
    model, words = Path(settings.get("model", "model")), frame.names_in(settings, "words")
    start = frame.path(settings, "from")
    if measure.measure is not None or start is not None:
        from wordgeom.stages.measure_change import MeasureChange

        return MeasureChange(model, measure, options, form, run, words, start, resume)
    from wordgeom.stages.drift import Drift

    return Drift(model, options, form, run, words, resume)
