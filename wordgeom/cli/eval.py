"""`wordgeom eval`: vectors → scores with intervals."""

from __future__ import annotations

from typing import Any

import click

from wordgeom.cli import flags, stages
from wordgeom.cli.sets import KINDS, takes_sets
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.report import ReportOptions
from wordgeom.runtime.run_options import UseOptions

OPTIONS = (EvalOptions, ReportOptions, UseOptions)
OWN = ("vectors", "sets", *KINDS)


@click.command("eval")
@click.argument("vectors", required=False)
@click.argument("sets", nargs=-1)
@takes_sets(named=False)
@flags.takes(*OPTIONS)
def command(config: str | None, **given: Any) -> None:
    """Judge the file VECTORS (vectors.bin) by SETS, with 95 % intervals.

    SETS are files of pairs (word word score), of analogies (a b c d) or of QVEC's features (word,
    tab, JSON). Without any, the sets inside gensim: WordSim-353, SimLex-999, the Google analogies.
    """
    stages.run_stage("eval", given, config)
