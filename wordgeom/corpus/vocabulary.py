"""The vocabulary: the words that have a row, in row order, with their counts; `vocab.tsv`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.errors import FormatError
from wordgeom.core.types import Int64
from wordgeom.corpus.shard_range import check_whole
from wordgeom.storage.files import atomic_file
from wordgeom.storage.foreign import CHECKED, recognise
from wordgeom.storage.opening import reading
from wordgeom.storage.store import Store, exists

_NONE = np.empty(0, np.int64)
_BOM = "\ufeff"
_SPACE = " \t\r\v\f"  # the whitespace tokeniser makes words that begin or end with other spaces


@dataclass(frozen=True)
class Vocabulary:
    """words (V), most frequent first unless the user gave them; counts (V) int64 in the corpus."""

    words: list[str]
    counts: Int64

    def __len__(self) -> int:
        return len(self.words)


def select_words(
    counts: Int64,
    firsts: Int64,
    min_count: int,
    max_vocab: int,
    stop: Int64 = _NONE,
    keep: Int64 = _NONE,
) -> Int64:
    """Return the ids of the words that get a row, by descending count, then first occurrence.

    A word needs `min_count` occurrences; at most `max_vocab` words are selected (0: no limit).
    `stop` ids are excluded. `keep` ids are selected if they occur at all, and count towards
    `max_vocab`.
    """
    is_kept = np.zeros(len(counts), bool)
    is_kept[keep] = counts[keep] > 0
    eligible = is_kept | (counts >= min_count)
    eligible[stop] = False
    ids = np.flatnonzero(eligible)
    order = ids[np.lexsort((firsts[ids], -counts[ids]))]
    if not max_vocab:
        return order
    others = ~is_kept[order]
    room = max_vocab - np.count_nonzero(is_kept)
    return order[~others | (np.cumsum(others) <= room)]


def read_words(path: str | Path) -> list[str]:
    """Read a vocabulary file like `read_list`; a repeated word is a FormatError too."""
    seen: set[str] = set()
    words = []
    for number, word in read_list(path):
        if word in seen:
            raise _repeated(word, f"{path} line {number}")
        seen.add(word)
        words.append(word)
    return words


def read_list(path: str | Path) -> list[tuple[int, str]]:
    """Read a word list: the line number and the word of each line, without surrounding spaces.

    Blank lines are skipped, and so is everything after a tab (a count). Raises MissingInputError,
    and FormatError for another format, invalid UTF-8 and for a word that is empty or too long.
    """
    from wordgeom.corpus.tokens.lexicon_kernels import (
        MAX_TOKEN,  # most readers of a vocabulary need no Numba
    )

    where = Path(path)
    content = list_content(where)
    foreign = recognise(content[:CHECKED], where.name)
    if foreign is not None:
        raise FormatError(foreign.line, where=where, found=foreign.found, do=foreign.do)
    text = decoded(content, where).removeprefix(_BOM)
    words = []
    for number, line in enumerate(text.split("\n"), 1):
        word = line.partition("\t")[0].strip(_SPACE)
        if not line.strip(_SPACE):
            continue
        if not word:
            raise _empty(f"{where} line {number}")
        if len(word.encode("utf-8")) >= MAX_TOKEN:
            what = f"the word has {len(word):,} characters, which is too long"
            raise FormatError(what, where=f"{where} line {number}")
        words.append((number, word))
    return words


def list_content(path: Path) -> bytes:
    """Return the bytes of a word list: of a file, or of the vocabulary of a store.

    Raises MissingInputError, FormatError, and InputError for the words of a shard.
    """
    if exists(path):
        store = Store.open(path)
        check_whole(store)
        return store.text("vocab")
    with reading(path, "a file"):
        return path.read_bytes()


def read_vocabulary_bytes(content: bytes, where: Path) -> Vocabulary:
    """Parse the content of `vocab.tsv`: word TAB count on each line. Raises FormatError."""
    text = decoded(content, where)
    # A word may contain any character but tab and line feed, so splitlines() would cut words.
    lines = text.removesuffix("\n").split("\n") if text else []
    counts: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        word, _, count = line.removesuffix("\r").partition("\t")
        if not word:
            raise _empty(f"{where} line {number}")
        if word in counts:
            raise _repeated(word, f"{where} line {number}")
        if not count.isascii() or not count.isdigit() or len(count) > 18:
            what, found = "expected a count after the word", repr(count[:40])
            raise FormatError(what, where=f"{where} line {number}", found=found)
        counts[word] = int(count)
    return Vocabulary(list(counts), np.array(list(counts.values()), np.int64))


def vocabulary_bytes(vocabulary: Vocabulary, between: str = "\t") -> bytes:
    """Return the content of `vocab.tsv`, or of another list of words and counts."""
    pairs = zip(vocabulary.words, vocabulary.counts.tolist(), strict=True)
    return "".join([f"{word}{between}{count}\n" for word, count in pairs]).encode("utf-8")


def save_vocabulary(path: str | Path, vocabulary: Vocabulary) -> None:
    """Write a vocabulary file atomically."""
    with atomic_file(Path(path)) as out:
        out.write(vocabulary_bytes(vocabulary))


def decoded(content: bytes, where: Path) -> str:
    """Return UTF-8 as text; raises FormatError for other bytes."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8 at byte {error.start:,}", where=where) from None


def _empty(where: str) -> FormatError:
    return FormatError("empty word", where=where, do="remove the line")


def _repeated(word: str, where: str) -> FormatError:
    return FormatError(f"the word {word!r} is repeated", where=where, do="remove one of the lines")
