"""`wordgeom similar`: nearest neighbours."""

from __future__ import annotations

import json

import click


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


def print_words(found: list[tuple[str, float]], as_json: bool) -> None:
    """Print words with their cosines, one a line, or as JSON."""
    if as_json:
        rows = [{"word": word, "cosine": round(cosine, 6)} for word, cosine in found]
        click.echo(json.dumps(rows, ensure_ascii=False))
        return
    width = max((len(word) for word, _ in found), default=0)
    for word, cosine in found:
        click.echo(f"{word:<{width}}  {cosine:.4f}")
