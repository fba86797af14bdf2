"""`wordgeom convert`: one vectors format → another."""

from __future__ import annotations

import click

_DIM = (
    "the first K columns only, where columns stand in order of a spectrum (pmi-eigs): the solution"
    " for K, to within --tol"
)


@click.command("convert")
@click.argument("source")
@click.argument("target")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="the first N words only")
@click.option("--dim", type=click.IntRange(min=1), metavar="K", help=_DIM)
@click.option("--space", metavar="CHAR", help="put this for white space in words")
@click.option("--force", is_flag=True, help="replace TARGET where it exists")
def command(
    source: str, target: str, limit: int | None, dim: int | None, space: str | None, force: bool
) -> None:
    """Rewrite the vectors file SOURCE as TARGET: .bin (word2vec binary), .txt or .vec (text)."""
    from wordgeom.converting import convert

    vectors = convert(source, target, limit=limit, dim=dim, space=space, force=force)
    doubles = f", {vectors.duplicates:,} repeated words left out" if vectors.duplicates else ""
    rows, columns = vectors.matrix.shape
    click.echo(f"{target}: {rows:,} × {columns:,}{doubles}")
