"""Word lists from the user: a fixed vocabulary, stop words, and words to keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from wordgeom.core.errors import OptionError
from wordgeom.core.formatting import several
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import kernels
from wordgeom.corpus.tokens.lexicon import Lexicon
from wordgeom.corpus.tokens.normal_forms import normaliser
from wordgeom.corpus.tokens.tokenisers import Tokeniser
from wordgeom.corpus.vocabulary import read_list, read_words

Choose = Callable[[list[str]], list[str]]
_SHOWN = 3


@dataclass(frozen=True)
class WordLists:
    """vocabulary: the fixed vocabulary, or None; stop: words without a row; keep: words with one.

    notes: messages about the files; others: a text without any of these words is no error; more:
    chooses from all other words, most frequent first, those that follow the fixed vocabulary.
    """

    vocabulary: list[str] | None
    stop: list[str]
    keep: list[str]
    notes: list[str] = field(default_factory=list)
    others: bool = False
    more: Choose | None = None

    @property
    def all(self) -> list[bytes]:
        """The words of the vocabulary, or stop words followed by words to keep, in UTF-8."""
        return [word.encode("utf-8") for word in (self.vocabulary or [*self.stop, *self.keep])]


def read_word_lists(options: CorpusOptions) -> WordLists:
    """Read the files of words, normalised as the text is.

    Raises OptionError for options that contradict each other.
    """
    for name, asked in (
        ("--stop-words", options.stop_words is not None),
        ("--keep-words", options.keep_words is not None),
        ("--phrases", options.phrases > 0),
    ):
        if asked and options.read_vocab is not None:
            what = f"{name} and --read-vocab are mutually exclusive"
            raise OptionError(what, do="omit one of them")
    notes: list[str] = []
    reader = _Reader(options.normalise, notes)
    stop = reader.distinct(options.stop_words, "--stop-words")
    keep = reader.distinct(options.keep_words, "--keep-words")
    stopped = set(stop)
    for word in keep:
        if word in stopped:
            what = f"the word {word!r} is in both --stop-words and --keep-words"
            raise OptionError(what, do="remove it from one of the files")
    vocabulary = None if options.read_vocab is None else reader.vocabulary(options.read_vocab)
    return WordLists(vocabulary, stop, keep, notes)


class _Reader:
    """Reads words normalised to `form`; adds to `notes` which of them changed or were ignored."""

    def __init__(self, form: str, notes: list[str]) -> None:
        self._form, self._notes = form, notes
        self._normaliser = normaliser(form, lower=False)

    def distinct(self, path: str | None, name: str) -> list[str]:
        """Return the distinct words of a file."""
        listed = [] if path is None else [word for _, word in read_list(path)]
        words = list(dict.fromkeys(self._normalised(listed, name)))
        if len(words) < len(listed):
            repeated = several(len(listed) - len(words), "repeated word", "repeated words")
            self._notes.append(f"{name}: {repeated} ignored")
        return words

    def vocabulary(self, path: str) -> list[str]:
        """Return the words of a vocabulary, without those that equal an earlier one normalised."""
        listed = read_words(path)
        words = list(dict.fromkeys(self._normalised(listed, "--read-vocab")))
        if len(words) < len(listed):
            one = f"word equals an earlier one in {self._form} and has no row of its own"
            many = f"words equal earlier ones in {self._form} and have no row of their own"
            self._notes.append(f"--read-vocab: {several(len(listed) - len(words), one, many)}")
        return words

    def _normalised(self, words: list[str], name: str) -> list[str]:
        if self._normaliser is None:
            return words
        made = [word if word.isascii() else self._normaliser.word(word) for word in words]
        changed = [old for old, new in zip(words, made, strict=True) if old != new]
        if changed:
            to = f"read in the Unicode form {self._form}"
            self._notes.append(f"{name}: {_some(changed, len(words))} {to}")
        return [word for word in made if word]


def word_list_notes(lists: WordLists, words: list[str], tables: Tokeniser) -> list[str]:
    """Return notes on listed words that have no effect; words: those with a row."""
    notes = [*lists.notes]
    odd = _unmatchable(lists.stop, tables)
    if odd:
        never = f"{_some(odd, len(lists.stop))} in --stop-words can never match a token"
        notes.append(f"{never}; list words as the tokeniser writes them{_case(odd, tables)}")
    rows = set(words)
    absent = [word for word in lists.keep if word not in rows]
    if absent:
        notes.append(f"not in the text: {_some(absent, len(lists.keep))} in --keep-words")
    return notes


def _some(words: list[str], of: int) -> str:
    more = ", …" if len(words) > _SHOWN else ""
    shown = ", ".join(repr(word) for word in words[:_SHOWN])
    return f"{len(words):,} of the {of:,} words ({shown}{more})"


def _case(words: list[str], tables: Tokeniser) -> str:
    """Return the advice for words with capitals where tokens have none."""
    lowered = tables.lower and any(word != word.lower() for word in words)
    return ", in lower case" if lowered else ""


def _unmatchable(words: list[str], tables: Tokeniser) -> list[str]:
    """Return the words that the tokeniser splits or changes, so that no token equals them."""
    if not words:
        return []
    text = np.frombuffer(tables.prepared("\n".join(words).encode("utf-8")), np.uint8)
    lexicon = Lexicon()
    ids = np.empty(len(text) + 1, np.int32)
    state = np.array([0, 0, -1, kernels.DONE, 0, 0], np.int64)
    table = tables.table(ascii_only=False)
    lexicon.tokenise(text, 0, 0, tables.byte_map, table, 0, 1 << 62, ids, state)
    tokens = {lexicon.word(k) for k in range(len(lexicon))}
    return [word for word in words if word.encode("utf-8") not in tokens]
