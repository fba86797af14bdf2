"""`wordgeom plot`: one subcommand per kind of plot."""

from __future__ import annotations

import click

from wordgeom.cli.lazy import LazyGroup

PLOTS = {
    "spectrum": "Plot the eigenvalues or singular values of trained vectors.",
    "loss": "Plot the loss of a training run, by epoch or sweep.",
    "imputation": "Plot imputed entities among their nearest neighbours.",
    "map": "Draw a map of words, as a picture or as an interactive page.",
    "angles": "Plot angles between words before and after a reduction.",
    "drift": "Plot word trajectories, or a volcano plot of change.",
}


@click.group(
    "plot",
    cls=LazyGroup,
    members=PLOTS,
    prefix="wordgeom.cli.plot_",
    noun="plot",
    heading="Plots (details: wordgeom plot PLOT --help)",
    subcommand_metavar="PLOT [ARGS]...",
)
def command() -> None:
    """Plot to .png, .svg or .pdf files with matplotlib, and maps to .html pages."""
