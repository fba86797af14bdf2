"""Word lists from the user: a fixed vocabulary, stop words, and words to keep."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from wordgeom.core.errors import OptionError
from wordgeom.core.formatting import several
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import kernels
from wordgeom.corpus.tokens.lexicon import Lexicon
from wordgeom.corpus.tokens.tokenisers import Tokeniser
from wordgeom.corpus.vocabulary import read_list, read_words

_SHOWN = 3


@dataclass(frozen=True)
class WordLists:
    """vocabulary: the fixed vocabulary, or None; stop: words without a row; keep: words with one.

    notes: messages about the files.
    """

    vocabulary: list[str] | None
    stop: list[str]
    keep: list[str]
    notes: list[str] = field(default_factory=list)

    @property
    def all(self) -> list[bytes]:
        """The words of the vocabulary, or stop words followed by words to keep, in UTF-8."""
        return [word.encode("utf-8") for word in (self.vocabulary or [*self.stop, *self.keep])]


def read_word_lists(options: CorpusOptions) -> WordLists:
    """Read the files of words. Raises OptionError for options that contradict each other."""
    for name, asked in (
        ("--stop-words", options.stop_words is not None),
        ("--keep-words", options.keep_words is not None),
        ("--phrases", options.phrases > 0),
    ):
        if asked and options.read_vocab is not None:
            what = f"{name} and --read-vocab are mutually exclusive"
            raise OptionError(what, do="omit one of them")
    notes: list[str] = []
    stop = _distinct(options.stop_words, "--stop-words", notes)
    keep = _distinct(options.keep_words, "--keep-words", notes)
    stopped = set(stop)
    for word in keep:
        if word in stopped:
            what = f"the word {word!r} is in both --stop-words and --keep-words"
            raise OptionError(what, do="remove it from one of the files")
    vocabulary = None if options.read_vocab is None else read_words(options.read_vocab)
    return WordLists(vocabulary, stop, keep, notes)


def _distinct(path: str | None, name: str, notes: list[str]) -> list[str]:
    """Return the distinct words of a file; add a note on repeated ones."""
    listed = [] if path is None else [word for _, word in read_list(path)]
    words = list(dict.fromkeys(listed))
    if len(words) < len(listed):
        repeated = several(len(listed) - len(words), "repeated word", "repeated words")
        notes.append(f"{name}: {repeated} ignored")
    return words


def word_list_notes(lists: WordLists, words: list[str], tables: Tokeniser) -> list[str]:
    """Return notes on listed words that have no effect; words: those with a row."""
    notes = [*lists.notes]
    odd = _unmatchable(lists.stop, tables)
    if odd:
        notes.append(f"{_some(odd, len(lists.stop))} in --stop-words can never match a token")
    rows = set(words)
    absent = [word for word in lists.keep if word not in rows]
    if absent:
        notes.append(f"not in the text: {_some(absent, len(lists.keep))} in --keep-words")
    return notes


def _some(words: list[str], of: int) -> str:
    more = ", …" if len(words) > _SHOWN else ""
    shown = ", ".join(repr(word) for word in words[:_SHOWN])
    return f"{len(words):,} of the {of:,} words ({shown}{more})"


def _unmatchable(words: list[str], tables: Tokeniser) -> list[str]:
    """Return the words that the tokeniser splits or changes, so that no token equals them."""
    text = np.frombuffer("\n".join(words).encode("utf-8"), np.uint8)
    lexicon = Lexicon()
    ids = np.empty(len(text) + 1, np.int32)
    state = np.array([0, 0, -1, kernels.DONE], np.int64)
    lower = tables.lower(ascii_only=False)
    lexicon.tokenise(text, 0, 0, tables.byte_map, lower, 1 << 62, ids, state)
    tokens = {lexicon.word(k) for k in range(len(lexicon))}
    return [word for word in words if word.encode("utf-8") not in tokens]
