"""`wordgeom plot drift`: word trajectories of a model, or a volcano plot of test results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wordgeom.cli import flags
from wordgeom.cli.command import Command
from wordgeom.plot.options import ColourOptions, PlotOptions


@click.command("drift", cls=Command)
@click.argument("source", metavar="MODEL|JSON")
@click.option("--words", metavar="WORD,WORD",
              help="words to plot (at most 6), or to label in a volcano plot")  # fmt: skip
@click.option("--at", metavar="TIME,TIME", help="times to mark on trajectories  [6, evenly spaced]")
@click.option("-o", "--out", default="drift.png", metavar="FILE",
              help="output file: .png, .svg or .pdf  [drift.png]")  # fmt: skip
@click.option("--force", is_flag=True, help="overwrite an existing file")
def command(
    source: str, words: str | None, at: str | None, out: str, force: bool, **given: Any
) -> None:
    """Plot word trajectories, or a volcano plot of change.

    For a MODEL (train --method dlsa), plot the trajectories of --words among their nearest
    neighbours at the first and last time. For JSON results (wordgeom drift MODEL --json), plot the
    displacement and the p-value of every word, with the threshold q = .05.
    """
    from wordgeom.plot import figure

    options = flags.taken(given, PlotOptions, ColourOptions)
    figure.check(out, [source], force=force)
    names = [word.strip() for word in (words or "").split(",") if word.strip()]
    draw = _trajectories if Path(source).is_dir() else _volcano
    click.echo(f"{out}: {draw(source, names, at, out, *options)}")


command.params.extend(flags.parameters(PlotOptions, ColourOptions))


def _trajectories(
    source: str, names: list[str], at: str | None, out: str, plot: PlotOptions,
    colours: ColourOptions,
) -> str:  # fmt: skip
    """Plot trajectories, and return the caption."""
    from wordgeom.core.errors import OptionError
    from wordgeom.methods.dlsa.model import DynamicModel
    from wordgeom.plot.neighbourhoods import trajectories
    from wordgeom.plot.trajectories import draw

    if not names:
        do = "name some: --words soviet,climate"
        raise OptionError("a plot of trajectories needs words", where=source, do=do)
    return draw(trajectories(DynamicModel.open(source), names, _times(at)), out, plot, colours)


def _volcano(
    source: str, names: list[str], at: str | None, out: str, plot: PlotOptions,
    colours: ColourOptions,
) -> str:  # fmt: skip
    """Plot test results, and return the caption."""
    from wordgeom.core.errors import OptionError
    from wordgeom.plot.drift_results import read_drift_results
    from wordgeom.plot.volcano import draw

    results = read_drift_results(source)
    if at is not None:
        do = "leave it out, or name a model directory"
        raise OptionError("--at applies to trajectories, not to results", where=source, do=do)
    return draw(results, out, names, plot, colours)


def _times(at: str | None) -> list[float]:
    """Return the times of --at, none where it is not given. Raises OptionError."""
    from wordgeom.core.errors import OptionError
    from wordgeom.matrices.times import parse_time

    times = []
    for text in [] if at is None else at.split(","):
        time = parse_time(text)
        if time is None:
            what = "--at must be numbers, years or dates such as 1950-07-31"
            raise OptionError(what, found=repr(text))
        times.append(time.value)
    return times
