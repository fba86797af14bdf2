"""`wordgeom similar`: nearest neighbours."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from wordgeom.vectors.keyed import Vectors


@click.command("similar")
@click.argument("vectors")
@click.argument("words", nargs=-1, required=True)
@click.option("--top", default=10, type=click.IntRange(min=1), help="number of neighbours  [10]")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
def command(vectors: str, words: tuple[str, ...], top: int, as_json: bool) -> None:
    """List the nearest neighbours of WORDS in VECTORS by cosine similarity.

    The vectors of several words are added: `similar vectors.bin bank river`.
    """
    from wordgeom.vectors.nearest import similar

    answer(vectors, lambda read: similar(read, words, top=top), as_json)


def answer(path: str, query: Callable[[Vectors], list[tuple[str, float]]], as_json: bool) -> None:
    """Print the answer to a query of a vectors file; a note counts vectors with NaN."""
    from wordgeom.vectors.finite import nonfinite_notes
    from wordgeom.vectors.keyed import read_vectors

    vectors = read_vectors(path)
    found = query(vectors)
    for note in nonfinite_notes(vectors.words, vectors.matrix, path):
        click.echo(f"wordgeom: note: {note}", err=True)
    print_words(found, as_json)


def print_words(found: list[tuple[str, float]], as_json: bool) -> None:
    """Print words with their cosines, one a line, or as JSON."""
    if as_json:
        rows = [{"word": word, "cosine": round(cosine, 6)} for word, cosine in found]
        click.echo(json.dumps(rows, ensure_ascii=False))
        return
    width = max((len(word) for word, _ in found), default=0)
    for word, cosine in found:
        click.echo(f"{word:<{width}}  {cosine:.4f}")
