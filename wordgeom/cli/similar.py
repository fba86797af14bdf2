"""`wordgeom similar`: nearest neighbours."""

from __future__ import annotations

import click

from wordgeom.cli.table import print_words


@click.command("similar")
@click.argument("vectors")
@click.argument("words", nargs=-1, required=True)
@click.option("--top", default=10, type=click.IntRange(min=1), help="number of neighbours  [10]")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
def command(vectors: str, words: tuple[str, ...], top: int, as_json: bool) -> None:
    """List the nearest neighbours of WORDS in VECTORS by cosine similarity.

    The vectors of several words are added: `similar vectors.bin bank river`.
    """
    from wordgeom.vectors.keyed import read_vectors
    from wordgeom.vectors.nearest import similar

    print_words(similar(read_vectors(vectors), words, top=top), as_json)
