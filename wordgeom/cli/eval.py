"""`wordgeom eval`: vectors → scores with confidence intervals."""

from __future__ import annotations

import click

from wordgeom.cli import frame
from wordgeom.cli.sets import KINDS, takes_sets
from wordgeom.evaluation.options import BaselineOptions, EvalOptions
from wordgeom.evaluation.report import ReportOptions
from wordgeom.runtime.run_options import ResumeOptions, UseOptions


@click.command(
    "eval", cls=frame.StageCommand,
    classes=(EvalOptions, BaselineOptions, ReportOptions, ResumeOptions, UseOptions),
)  # fmt: skip
@click.argument("vectors", required=False)
@click.argument("sets", nargs=-1)
@takes_sets(named=False)
def command(
    settings: frame.Settings,
    options: EvalOptions,
    beside: BaselineOptions,
    form: ReportOptions,
    resume: ResumeOptions,
    run: UseOptions,
) -> frame.Stage:
    """Evaluate VECTORS (vectors.bin) on test sets, with 95 % confidence intervals.

    SETS are files of word pairs (word word score), analogies (a b c d) or QVEC features (word, tab,
    JSON). The default sets are those shipped with gensim: WordSim-353, SimLex-999 and the Google
    analogies.
    """
    from wordgeom.comparison.arguments import check_order
    from wordgeom.evaluation.sets import read_tasks
    from wordgeom.stages.evaluate import Evaluate

    vectors = settings.get("vectors", "vectors.bin")
    given = [frame.names_in(settings, name) for name in ("sets", *KINDS)]
    sets, categories, classify, regress, reference = given
    check_order(vectors, sets)
    tasks = read_tasks(sets, categories, classify, regress, options, reference, beside.baselines)
    files = tuple(file for names in given for file in names)
    return Evaluate(vectors, vectors, tasks, options, run, form, files, resume)
