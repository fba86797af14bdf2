"""`wordgeom plot imputation`: imputed vectors and their table of trust → a picture."""

from __future__ import annotations

import click


@click.command("imputation")
@click.argument("vectors", default="vectors.imputed.bin")
@click.option("--table", metavar="FILE", help="the table of trust  [beside VECTORS, .tsv]")
@click.option("--label", "labels", multiple=True, metavar="NAME",
              help="name this entity; may be given again  [a dozen of the imputed]")  # fmt: skip
@click.option("--around", metavar="NAME", help="draw this entity, its neighbours and theirs alone")
@click.option("-o", "--out", default="imputation.png", metavar="FILE",
              help="the picture: .png, .svg or .pdf  [imputation.png]")  # fmt: skip
@click.option("--force", is_flag=True, help="replace the picture where it exists")
def command(
    vectors: str, table: str | None, labels: tuple[str, ...], around: str | None, out: str,
    force: bool,
) -> None:  # fmt: skip
    """Draw the entities of VECTORS (vectors.imputed.bin) in a plane, and who leans on whom.

    Known entities are filled, imputed ones hollow; a line goes to each neighbour, as wide as its
    weight. The plane is that of the drawn vectors' first two principal components; with --around,
    of the entity's and its neighbours', which alone are named.
    """
    from wordgeom.plot import figure, imputation

    figure.check(out, force=force)
    chart = imputation.read_chart(vectors, table, labels, around)
    caption = imputation.draw(chart, out)
    click.echo(f"{out}: {caption}")
