"""Words written with their part of speech, as in the lemma form of MEN: `sun-n sunlight-n 50`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from wordgeom.evaluation.pairs import Pair
from wordgeom.evaluation.word_lookup import Lookup

_TAGGED = re.compile(r"(.+)-[nvajr]")  # noun, verb, adjective (two letters), adverb


def match_tags(pairs: Sequence[Pair], lookup: Lookup) -> tuple[tuple[Pair, ...], str]:
    """Return pairs spelled as in the vocabulary, and a note if all words have a part of speech.

    The tags are dropped unless more pairs have vectors with them.
    """
    if not all(_TAGGED.fullmatch(word) for pair in pairs for word in (pair.left, pair.right)):
        return tuple(pairs), ""
    bare = tuple(Pair(pair.left[:-2], pair.right[:-2], pair.score) for pair in pairs)
    example = pairs[0].left
    if _known(pairs, lookup) > _known(bare, lookup):
        return tuple(pairs), f"words are looked up with their part of speech, such as {example}"
    return bare, f"parts of speech are dropped from words ({example} is read as {bare[0].left})"


def _known(pairs: Sequence[Pair], lookup: Lookup) -> int:
    return sum(None not in (lookup.row(pair.left), lookup.row(pair.right)) for pair in pairs)
