"""The vocabulary: which words have a row, in which order, how often each occurs; `vocab.tsv`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.errors import FormatError, MissingInputError
from wordgeom.core.types import Int64
from wordgeom.storage.files import atomic_file

_NONE = np.empty(0, np.int64)
_BOM = "\ufeff"
_SPACE = " \t\r\v\f"  # other white space may begin or end a word of the tokeniser whitespace


@dataclass(frozen=True)
class Vocabulary:
    """words (V), most frequent first unless they were given; counts (V) int64 in the corpus."""

    words: list[str]
    counts: Int64

    def __len__(self) -> int:
        return len(self.words)


def cut(
    counts: Int64,
    firsts: Int64,
    min_count: int,
    max_vocab: int,
    stop: Int64 = _NONE,
    keep: Int64 = _NONE,
) -> Int64:
    """Return the ids of the words with a row, by count, then by first occurrence.

    Those seen at least `min_count` times, at most `max_vocab` of them (0: all). `stop` are left
    out; `keep` stay if they occur at all, and count among the `max_vocab`.
    """
    stays = np.zeros(len(counts), bool)
    stays[keep] = counts[keep] > 0
    able = stays | (counts >= min_count)
    able[stop] = False
    kept = np.flatnonzero(able)
    order = kept[np.lexsort((firsts[kept], -counts[kept]))]
    if not max_vocab:
        return order
    others = ~stays[order]
    room = max_vocab - np.count_nonzero(stays)
    return order[~others | (np.cumsum(others) <= room)]


def read_words(path: str | Path) -> list[str]:
    """Read a vocabulary file: as read_list; raises FormatError for a word that is repeated too."""
    found = read_list(path)
    seen: set[str] = set()
    for number, word in found:
        if word in seen:
            raise _twice(word, f"{path} line {number}")
        seen.add(word)
    return [word for _, word in found]


def read_list(path: str | Path) -> list[tuple[int, str]]:
    """Read a file of words: the numbers of lines, and their words without white space around.

    Blank lines, and what follows a tab (a word's count), are left aside. Raises MissingInputError;
    FormatError for bad UTF-8, a word empty or too long.
    """
    from wordgeom.corpus.tokens.kernels import MAX_TOKEN

    where = Path(path)
    try:
        text = _decoded(where.read_bytes(), where).removeprefix(_BOM)
    except FileNotFoundError:
        raise MissingInputError("no such file", where=where, do="check the path") from None
    except IsADirectoryError:
        raise MissingInputError("is a directory", where=where, do="name a file") from None
    words = []
    for number, line in enumerate(text.split("\n"), 1):
        word = line.partition("\t")[0].strip(_SPACE)
        if not line.strip(_SPACE):
            continue
        if not word:
            raise _empty(f"{where} line {number}")
        if len(word.encode("utf-8")) >= MAX_TOKEN:
            found = f"{len(word):,} characters"
            raise FormatError("a word is too long", where=f"{where} line {number}", found=found)
        words.append((number, word))
    return words


def read_vocabulary_bytes(content: bytes, where: Path) -> Vocabulary:
    """Read the content of `vocab.tsv`: word TAB count a line. Raises FormatError."""
    words: list[str] = []
    counts: list[int] = []
    for number, (word, count) in enumerate(_lines(content, where), 1):
        if not count.isascii() or not count.isdigit() or len(count) > 18:
            raise FormatError(
                "no count after the word", where=f"{where} line {number}", found=repr(count[:40])
            )
        words.append(word)
        counts.append(int(count))
    return Vocabulary(words, np.array(counts, np.int64))


def vocabulary_bytes(vocabulary: Vocabulary) -> bytes:
    """Return the content of `vocab.tsv`."""
    pairs = zip(vocabulary.words, vocabulary.counts.tolist(), strict=True)
    return "".join([f"{word}\t{count}\n" for word, count in pairs]).encode("utf-8")


def save_vocabulary(path: str | Path, vocabulary: Vocabulary) -> None:
    """Write a vocabulary file, whole or not at all."""
    with atomic_file(Path(path)) as out:
        out.write(vocabulary_bytes(vocabulary))


def _lines(content: bytes, where: Path) -> list[tuple[str, str]]:
    text = _decoded(content, where)
    # A word may hold any character but tab and line feed, so no splitlines().
    lines = text.removesuffix("\n").split("\n") if text else []
    seen: set[str] = set()
    pairs = []
    for number, line in enumerate(lines, 1):
        word, _, count = line.removesuffix("\r").partition("\t")
        if not word:
            raise _empty(f"{where} line {number}")
        if word in seen:
            raise _twice(word, f"{where} line {number}")
        seen.add(word)
        pairs.append((word, count))
    return pairs


def _decoded(content: bytes, where: Path) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8 at byte {error.start:,}", where=where) from None


def _empty(where: str) -> FormatError:
    return FormatError("an empty word", where=where, do="remove the line")


def _twice(word: str, where: str) -> FormatError:
    return FormatError(f"the word {word!r} is there twice", where=where, do="remove one")
