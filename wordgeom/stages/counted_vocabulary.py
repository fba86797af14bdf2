"""A vocabulary that was counted from the same text: the options by which it was cut."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from wordgeom.corpus.inputs.readers import file_stamp
from wordgeom.matrices.kinds import VOCABULARY
from wordgeom.storage import store
from wordgeom.storage.store import Store

# Options that cut a vocabulary, and have no effect on a count that is given one.
CUT = ("min_count", "max_vocab", "stop_words", "keep_words")
_OTHERS = (*CUT, "read_vocab", "oov", "vocab_only")  # options that say nothing about words


def cut_of(read_vocab: str | None, names: Sequence[str], asked: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a count that took its words from a count of the same text, else {}.

    Such a count is the one that these options, without --read-vocab, ask for. asked: its options.
    """
    if read_vocab is None or not store.exists(read_vocab):
        return {}
    held = Store.open(read_vocab)
    if held.kind != VOCABULARY:
        return {}
    request = held.request
    made = request["options"]
    texts = [(one.get("name"), one.get("stamp")) for one in request["inputs"]]
    same_text = texts == [(os.path.abspath(name), file_stamp(name)) for name in names]
    same_words = all(asked.get(name) == made[name] for name in made if name not in _OTHERS)
    if not (same_text and same_words and made.keys() >= set(CUT)):
        return {}
    return {"read_vocab": None, **{name: made[name] for name in CUT}}
