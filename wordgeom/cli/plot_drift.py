"""`wordgeom plot drift`: a model, or what `wordgeom drift --json` printed → a picture."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("drift")
@click.argument("source", metavar="MODEL|JSON")
@click.option("--words", metavar="WORD,WORD",
              help="words of a model to draw, up to 6; of results, to name too")  # fmt: skip
@click.option("--at", metavar="TIME,TIME", help="the times of a model to mark  [6, evenly]")
@click.option("-o", "--out", default="drift.png", metavar="FILE",
              help="the picture: .png, .svg or .pdf  [drift.png]")  # fmt: skip
@click.option("--force", is_flag=True, help="replace the picture where it exists")
def command(source: str, words: str | None, at: str | None, out: str, force: bool) -> None:
    """Draw the ways of words through time, or how far all words moved and how surely.

    Of a MODEL's folder (train --method dlsa) it draws the ways of --words among the words that were
    nearest to them at the first and the last time. Of results (wordgeom drift MODEL --json >
    drift.json) it draws a volcano: displacement and p of each word, and the line of q = .05.
    """
    from wordgeom.plot import figure

    figure.check(out, force=force)
    names = [word.strip() for word in (words or "").split(",") if word.strip()]
    draw = _ways if Path(source).is_dir() else _volcano
    click.echo(f"{out}: {draw(source, names, at, out)}")


def _ways(source: str, names: list[str], at: str | None, out: str) -> str:
    """Draw the ways of words of a model, and return the caption."""
    from wordgeom.core.errors import OptionError
    from wordgeom.methods.dlsa.model import DynamicModel
    from wordgeom.plot.neighbourhoods import trajectories
    from wordgeom.plot.trajectories import draw

    if not names:
        do = "name some: --words soviet,climate"
        raise OptionError("the picture of a model needs words", where=source, do=do)
    return draw(trajectories(DynamicModel.open(source), names, _times(at)), out)


def _volcano(source: str, names: list[str], at: str | None, out: str) -> str:
    """Draw results, and return the caption."""
    from wordgeom.core.errors import OptionError
    from wordgeom.plot.drift_results import read_drift_results
    from wordgeom.plot.volcano import draw

    results = read_drift_results(source)
    if at is not None:
        do = "leave it out, or name a model's folder"
        raise OptionError("--at is for the ways of words, not for results", where=source, do=do)
    return draw(results, out, names)


def _times(at: str | None) -> list[float]:
    """Return the times of --at, none where it is not given. Raises OptionError."""
    from wordgeom.core.errors import OptionError
    from wordgeom.matrices.times import parse_time

    times = []
    for text in [] if at is None else at.split(","):
        time = parse_time(text)
        if time is None:
            do = "write numbers, years or dates as 1950-07-31"
            raise OptionError("--at has a time of no known format", found=repr(text), do=do)
        times.append(time.value)
    return times
