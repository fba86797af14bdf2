"""`wordgeom analogy`: a is to b as c is to what?"""

from __future__ import annotations

from typing import Any

import click

from wordgeom.cli import flags
from wordgeom.cli.command import Command
from wordgeom.cli.similar import including, note_undirected, print_words, read
from wordgeom.vectors.options import NeighbourOptions


@click.command("analogy", cls=Command)
@click.argument("vectors")
@click.argument("a")
@click.argument("b")
@click.argument("c")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
def command(vectors: str, a: str, b: str, c: str, as_json: bool, **given: Any) -> None:
    """Answer an analogy: list the nearest neighbours of B - A + C.

    `analogy vectors.bin man king woman` should answer "queen". With a subword model beside
    VECTORS, words without a vector get that of their n-grams.
    """
    from wordgeom.vectors.nearest import analogy

    (options,) = flags.taken(given, NeighbourOptions)
    made = read(vectors)
    print_words(analogy(including(made, [a, b, c]), a, b, c, top=options.top), as_json)
    note_undirected(made.vectors, vectors)


command.params += flags.parameters(NeighbourOptions)
