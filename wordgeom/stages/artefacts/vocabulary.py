"""A stored vocabulary: the words of a text with their counts, or those of a shard of it."""

from __future__ import annotations

from typing import Any

from wordgeom.core.errors import OptionError
from wordgeom.corpus.vocabulary import read_vocabulary_bytes
from wordgeom.stages.artefacts.artefact import CHECKED, FREQUENT, Artefact
from wordgeom.storage.store import Store


class VocabularyDirectory(Artefact):
    """A vocabulary that exists."""

    def describe(self, *, check: bool) -> dict[str, Any]:
        """Return its size, its most frequent words, its parts and its run card."""
        store = Store.open(self.path)
        words = read_vocabulary_bytes(store.text("vocab"), self.path / "vocab.tsv")
        order = (-words.counts).argsort(kind="stable")[:FREQUENT]
        facts: dict[str, Any] = {"path": str(self.path), "kind": store.kind, "digest": store.digest}
        facts |= {"words": len(words), "most frequent": [words.words[k] for k in order.tolist()]}
        if check:
            store.check()
            facts["checked"] = CHECKED
        return facts | {"attributes": store.attributes, "parts": store.parts(), "run": store.card}

    def check_convertible(self) -> None:
        """Raise OptionError: it is a text file already."""
        do = "read its vocab.tsv, or pass it to --read-vocab"
        raise OptionError("is a vocabulary, which has no other format", where=self.path, do=do)
