"""Words that the user names: a vocabulary, words without a row, words that keep theirs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from wordgeom.core.errors import OptionError
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import kernels
from wordgeom.corpus.tokens.lexicon import Lexicon
from wordgeom.corpus.tokens.tokenisers import Tokeniser
from wordgeom.corpus.vocabulary import read_list, read_words

_SHOWN = 3


@dataclass(frozen=True)
class NamedWords:
    """given: the whole vocabulary, or None; stop: without a row; keep: rows whatever the cuts.

    notes: what to tell of the files that name them.
    """

    given: list[str] | None
    stop: list[str]
    keep: list[str]
    notes: list[str] = field(default_factory=list)

    @property
    def all(self) -> list[bytes]:
        """All of them: those of the vocabulary, or stop words and then words to keep."""
        return [word.encode("utf-8") for word in (self.given or [*self.stop, *self.keep])]


def read_named(options: CorpusOptions) -> NamedWords:
    """Read the files of words. Raises OptionError for options that contradict each other."""
    for name, asked in (
        ("--stop-words", options.stop_words is not None),
        ("--keep-words", options.keep_words is not None),
        ("--phrases", options.phrases > 0),
    ):
        if asked and options.read_vocab is not None:
            what = f"{name} and --read-vocab cannot go together: one of them chooses the words"
            raise OptionError(what, do="leave one out")
    told: list[str] = []
    stop = _each_once(options.stop_words, "--stop-words", told)
    keep = _each_once(options.keep_words, "--keep-words", told)
    both = set(stop)
    for word in keep:
        if word in both:
            what = f"the word {word!r} is in --stop-words and in --keep-words"
            raise OptionError(what, do="remove it from one of the files")
    given = None if options.read_vocab is None else read_words(options.read_vocab)
    return NamedWords(given, stop, keep, told)


def _each_once(path: str | None, name: str, told: list[str]) -> list[str]:
    """Return the words of a file, each once; add to `told` how many were repeated."""
    named = [] if path is None else [word for _, word in read_list(path)]
    words = list(dict.fromkeys(named))
    if len(words) < len(named):
        told.append(f"{name}: named again, taken once: {len(named) - len(words):,}")
    return words


def notes(named: NamedWords, words: list[str], tables: Tokeniser) -> list[str]:
    """Return what to tell of words that were named in vain; words: those with a row."""
    told = [*named.notes]
    odd = _unmatchable(named.stop, tables)
    if odd:
        what = "can never match: the tokeniser makes no such word"
        told.append(f"{_some(odd, len(named.stop))} of --stop-words {what}")
    rows = set(words)
    absent = [word for word in named.keep if word not in rows]
    if absent:
        told.append(f"{_some(absent, len(named.keep))} of --keep-words left out: not in the text")
    return told


def _some(words: list[str], of: int) -> str:
    more = ", …" if len(words) > _SHOWN else ""
    shown = ", ".join(repr(word) for word in words[:_SHOWN])
    return f"{len(words):,} of the {of:,} words ({shown}{more})"


def _unmatchable(words: list[str], tables: Tokeniser) -> list[str]:
    """Return the words that the tokeniser never makes: it makes other words even of themselves."""
    text = np.frombuffer("\n".join(words).encode("utf-8"), np.uint8)
    lexicon = Lexicon()
    ids = np.empty(len(text) + 1, np.int32)
    state = np.array([0, 0, -1, kernels.DONE], np.int64)
    lower = tables.lower(ascii_only=False)
    lexicon.tokenise(text, 0, 0, tables.byte_map, lower, 1 << 62, ids, state)
    made = {lexicon.word(k) for k in range(len(lexicon))}
    return [word for word in words if word.encode("utf-8") not in made]
