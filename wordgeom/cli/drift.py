"""`wordgeom drift`: a model of dynamic LSA → words by how much they changed, tested."""

from __future__ import annotations

from typing import Any

import click

from wordgeom.cli import flags, stages
from wordgeom.drift.options import DriftOptions
from wordgeom.drift.report import ReportOptions
from wordgeom.runtime.run_options import UseOptions

OPTIONS = (DriftOptions, ReportOptions, UseOptions)
OWN = ("model", "words")


@click.command("drift")
@click.argument("model", required=False)
@click.argument("words", nargs=-1)
@flags.takes(*OPTIONS)
def command(config: str | None, **given: Any) -> None:
    """List the words of MODEL (model) by how much they changed over time, and test it.

    MODEL is what `wordgeom train --method dlsa` made. WORDS are told of instead of those that
    changed most. What each test assumes is printed with it.
    """
    stages.run_stage("drift", given, config)
