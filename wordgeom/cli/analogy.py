"""`wordgeom analogy`: a is to b as c is to what?"""

from __future__ import annotations

import click

from wordgeom.cli.similar import including, note_undirected, print_words, read


@click.command("analogy")
@click.argument("vectors")
@click.argument("a")
@click.argument("b")
@click.argument("c")
@click.option("--top", default=10, metavar="N", help="number of answers  [10]")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
def command(vectors: str, a: str, b: str, c: str, top: int, as_json: bool) -> None:
    """Answer an analogy: list the nearest neighbours of B - A + C.

    `analogy vectors.bin man king woman` should answer "queen". With a subword model beside
    VECTORS, words without a vector get that of their n-grams.
    """
    from wordgeom.vectors.nearest import analogy

    made = read(vectors)
    print_words(analogy(including(made, [a, b, c]), a, b, c, top=top), as_json)
    note_undirected(made.vectors, vectors)
