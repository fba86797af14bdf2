"""The vocabulary of a text, from the words of all its shards; or the words of some shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural, several
from wordgeom.corpus.encoding.word_counts import add_words, cut_words, every_word
from wordgeom.corpus.encoding.word_lists import WordLists
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.shard_range import ShardRange, shard_note
from wordgeom.corpus.tokens.lexicon import Lexicon
from wordgeom.corpus.vocabulary import Vocabulary, read_vocabulary_bytes, vocabulary_bytes
from wordgeom.counts.merge_options import MergeOptions
from wordgeom.matrices.kinds import VOCABULARY
from wordgeom.runtime.memory import check_memory
from wordgeom.stages.build_vocabulary import KEEP, STOP
from wordgeom.stages.merging.compatibility import Mergeable, check_addable
from wordgeom.stages.merging.shards import check_shards, joined_inputs, shard_attributes
from wordgeom.stages.stage import Job
from wordgeom.storage.disk_space import Demand, Space
from wordgeom.storage.store import Store, StoreWriter

_CUT = ("min_count", "max_vocab")
_WORD_BYTES = 400  # of a word, in the table and as a Python string with its count


@dataclass(frozen=True)
class StoredVocabulary:
    """The words of a text, or of a shard of it, in a store."""

    store: Store

    @property
    def path(self) -> Path:
        """The directory."""
        return self.store.path

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words with their counts."""
        return self._part("vocab")

    def words(self, name: str) -> list[str]:
        """Return the words of a list that the options of the shard named."""
        return self._part(name).words

    def _part(self, name: str) -> Vocabulary:
        return read_vocabulary_bytes(self.store.text(name), self.path / f"{name}.tsv")


@dataclass(frozen=True)
class MergedVocabulary:
    """The words of shards of one text, in its order; covered: which ones, None for all."""

    shards: Sequence[StoredVocabulary]
    covered: ShardRange | None

    @classmethod
    def of(cls, given: Sequence[Mergeable], options: MergeOptions) -> MergedVocabulary:
        """Check that the shards belong together. Raises InputError."""
        for name in ("subtract", "union"):
            if getattr(options, name):
                do = "merge all shards of one text without it"
                what = f"is a vocabulary, to which --{name} does not apply"
                raise InputError(what, where=given[0].path, do=do)
        check_addable(given)
        covered = check_shards(given, part=options.part)
        shards = [one for one in given if isinstance(one, StoredVocabulary)]
        return cls(sorted(shards, key=lambda one: one.store.attributes["shard"][0]), covered)

    @property
    def request(self) -> dict[str, Any]:
        """The request of the shards, with the inputs of all of them."""
        return {**self.shards[0].store.request, "inputs": joined_inputs(self.shards)}

    @property
    def demand(self) -> Demand:
        """The words of all shards, at most; those of one, cut, may be all that is left."""
        return Demand(Space(0, sum(one.store.array("vocab").length for one in self.shards)))

    def write(self, out: Path, job: Job) -> Store:
        """Add up the words, cut those of all shards, and commit the store. Raises InputError."""
        bytes_of_words = sum(one.store.array("vocab").length for one in self.shards)
        number = sum(one.store.attributes["words"] for one in self.shards)
        do = "raise --memory"
        check_memory("the words", number * _WORD_BYTES + bytes_of_words, job.context.memory, do)
        table = add_words([one.vocabulary for one in self.shards])
        select = self._cut if self.covered is None else every_word
        words = job.context.pool.call(lambda: select(table))
        tokens = sum(one.store.attributes["tokens"] for one in self.shards)
        facts = {"words": len(words), "tokens": tokens}
        with StoreWriter(out, VOCABULARY) as writer:
            writer.text("vocab", vocabulary_bytes(words))
            if self.covered is not None:
                for name in (STOP, KEEP):
                    writer.text(name, self.shards[0].store.text(name))
            facts |= shard_attributes(self.shards, self.covered)
            return writer.commit(facts, job.card(self.request))

    def summary(self, made: Store) -> str:
        """Return the number of words and of shards."""
        words = plural(made.attributes["words"], "word")
        return f"{words} from {several(len(self.shards), 'shard', 'shards')}{shard_note(made)}"

    def _cut(self, table: Lexicon) -> Vocabulary:
        """Return the words that get a row. Raises InputError where none does."""
        first = self.shards[0]
        asked = first.store.request["options"]
        options = CorpusOptions.take({k: asked[k] for k in _CUT if k in asked})
        lists = WordLists(None, first.words(STOP), first.words(KEEP))
        try:
            return cut_words(table, lists, options)
        except InputError as error:
            raise error.within(str(first.path)) from None
