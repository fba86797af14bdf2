"""`wordgeom convert`: one vectors format → another."""

from __future__ import annotations

import os

import click

from wordgeom.errors import OutputExistsError


@click.command("convert")
@click.argument("source")
@click.argument("target")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="the first N words only")
@click.option("--space", metavar="CHAR", help="replace white space in words by this")
@click.option("--force", is_flag=True, help="replace TARGET")
def command(source: str, target: str, limit: int | None, space: str | None, force: bool) -> None:
    """Rewrite the vectors SOURCE as TARGET: word2vec binary (.bin) or text (.txt, .vec)."""
    from wordgeom.vectors import read_vectors, write_vectors

    if os.path.exists(target) and not force:
        raise OutputExistsError("exists", where=target, do="pass --force to replace it")
    vectors = read_vectors(source, limit=limit)
    write_vectors(target, vectors.words, vectors.matrix, space=space)
    doubles = f", {vectors.duplicates:,} repeated words left out" if vectors.duplicates else ""
    rows, columns = vectors.matrix.shape
    click.echo(f"{target}: {rows:,} × {columns:,}{doubles}")
