"""Options of maps."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.options import Options, option

FEWEST = 3  # words of a map
MOST_CLUSTERS = 64  # colours and markers that can be told apart


@dataclass(frozen=True)
class MapOptions(Options):
    """Options of maps."""

    top: int | None = option(
        None, "draw the first N words of the file  [picture: 2,000, page: 100,000]",
        low=FEWEST, metavar="N",
    )  # fmt: skip
    words: str | None = option(
        None, "draw these (a file, or a,b,c), or with --top label them", metavar="WORD,WORD"
    )
    reference: str | None = option(
        None, "vectors of the words, for neighbours and clusters  [VECTORS]", metavar="FILE"
    )
    clusters: int | None = option(
        None, "colour words by N clusters of their vectors, 0: no colours  [8]",
        low=0, high=MOST_CLUSTERS, metavar="N",
    )  # fmt: skip
