"""`wordgeom plot`: pictures, a subcommand for each kind."""

from __future__ import annotations

import click

from wordgeom.cli.lazy import LazyGroup

PICTURES = {
    "spectrum": "Draw the eigenvalues that vectors were made of.",
    "imputation": "Draw imputed entities among their neighbours.",
    "drift": "Draw how words moved through time, and how surely.",
}


@click.group(
    "plot",
    cls=LazyGroup,
    members=PICTURES,
    prefix="wordgeom.cli.plot_",
    noun="picture",
    heading="Pictures (wordgeom plot PICTURE --help tells more)",
    subcommand_metavar="PICTURE [ARGS]...",
)
def command() -> None:
    """Draw pictures into .png, .svg or .pdf files, by matplotlib."""
