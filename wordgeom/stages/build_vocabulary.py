"""The stage that counts words alone: the vocabulary of a text, or the words of one shard of it.

A shard has every word, in order of first occurrence. The vocabulary that `merge` makes of all
shards is cut by the options with which they were counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import plural
from wordgeom.corpus.encoding.obstacles import obstacle, text_of
from wordgeom.corpus.encoding.word_counts import WordCounts, add_words, count_words, cut_words
from wordgeom.corpus.encoding.word_lists import WordLists, read_word_lists
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.inputs.text_parts import TextRange
from wordgeom.corpus.shard_range import shard_note
from wordgeom.corpus.vocabulary import Vocabulary, vocabulary_bytes
from wordgeom.matrices import vocabulary_file
from wordgeom.matrices.kinds import VOCABULARY
from wordgeom.stages import corpus_inputs
from wordgeom.stages.counting import CountStage
from wordgeom.stages.shard import Shard
from wordgeom.stages.stage import Job, Outcome
from wordgeom.storage.store import StoreWriter

STOP, KEEP = "stop", "keep"  # parts of a shard: the words of --stop-words and --keep-words


@dataclass(frozen=True)
class BuildVocabulary(CountStage):
    """Count the words in text files."""

    part: Shard | None = None

    command: ClassVar[str] = "build-cooc"
    kind: ClassVar[str] = VOCABULARY

    @property
    def shard(self) -> list[int] | None:
        """[i, N] of the shard, None for the whole text."""
        return None if self.part is None else [self.part.index, self.part.of]

    @property
    def reads_part(self) -> bool:
        """Whether it is a shard."""
        return self.part is not None

    @cached_property
    def options(self) -> dict[str, Any]:
        """The options of the corpus. Raises OptionError, and InputError for no parts."""
        corpus = self.inputs.corpus
        for flag, used in (("--read-vocab", corpus.read_vocab), ("--phrases", corpus.phrases)):
            if used:
                what = f"--vocab-only and {flag} are mutually exclusive"
                raise OptionError(what, do="omit one of them")
        if self.part is not None and (why := obstacle(self.inputs.names, corpus)):
            do = "leave --shard out: the vocabulary of the whole text is counted at once"
            raise InputError(f"cannot be read in parts: {why}", where=self.inputs.names[0], do=do)
        return {**corpus_inputs.request_options(corpus, self.run), "vocab_only": True}

    def expected_entries(self, tokens: int) -> int:
        """Return 0: words alone are counted."""
        return 0

    def entry_bytes(self, most: int) -> int:
        """Return 0: there are no entries."""
        return 0

    def temporary_bytes(self, tokens: int, output: int) -> int:
        """Return 0: no ids are stored."""
        return 0

    def work(self, job: Job) -> Outcome:
        """Count, and commit the store. Raises InputError for a whole text without a word."""
        corpus, lists = self.inputs.corpus, read_word_lists(self.inputs.corpus)
        found = self._range()
        sources = [Source(n) for n in self.inputs.names] if found is None else found.sources()
        counted = count_words(sources, corpus, job.context)
        notes = self.notes_on(sources, lists.notes)
        facts: dict[str, Any] = {}
        if found is None:
            words = job.context.pool.call(lambda: self._cut(counted, lists))
        else:
            words, sources = counted.words, found.every_source(sources)
            facts |= {"shard": self.shard, "part": found.facts()}
        facts = {"words": len(words), "tokens": counted.tokens, **facts}
        read = corpus_inputs.cards(sources)
        request = {"command": self.command, "options": self.options, "inputs": read}
        saved = vocabulary_file.saved(self.save_vocab, words)
        with StoreWriter(self.out, VOCABULARY) as writer, saved:
            writer.text("vocab", vocabulary_bytes(words))
            if found is not None:
                writer.text(STOP, _lines(lists.stop))
                writer.text(KEEP, _lines(lists.keep))
            made = writer.commit(facts, job.card(request))
        size = f"{plural(len(words), 'word')} from {plural(counted.tokens, 'token')}"
        summary = f"{made.path}: {size}{shard_note(made)}; {job.seconds()}"
        return Outcome(summary, self.out, notes, value=made)

    def _range(self) -> TextRange | None:
        """Return the bytes of the shard, None for the whole text."""
        if self.part is None:
            return None
        text = text_of(self.inputs.names, self.inputs.corpus)
        return text.between(self.part.span(text.length))

    def _cut(self, counted: WordCounts, lists: WordLists) -> Vocabulary:
        """Return the words that get a row. Raises InputError where none does."""
        try:
            return cut_words(add_words([counted.words]), lists, self.inputs.corpus)
        except InputError as error:
            raise error.within(" ".join(self.inputs.names)) from None


def _lines(words: list[str]) -> bytes:
    zeros = np.zeros(len(words), np.int64)
    return vocabulary_bytes(Vocabulary(words, zeros))
