"""The words of another program's matrix or vectors: a word a line, with counts or not."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.errors import FormatError, InputError
from wordgeom.core.types import Int64
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.storage.opening import opened

_SUFFIX = ".words.txt"
_DIGITS = 18  # of a count, at most


@dataclass(frozen=True)
class WordList:
    """words (V), and how often each occurs, where the file tells."""

    words: list[str]
    counts: Int64 | None


def companion_path(path: Path, suffix: str = _SUFFIX) -> Path:
    """Return where the words of a file lie: counts.words.txt beside `counts.mtx.gz`."""
    stem = path.name.removesuffix(".gz")
    return path.with_name(stem.removesuffix(Path(stem).suffix) + suffix)


def read_words(path: Path) -> WordList:
    """Read `word TAB count`, `word count` as GloVe writes it, or a word a line.

    Lines have tabs, or all of them end in a blank and a count, or they are words. Raises
    MissingInputError; FormatError for a word that is empty or there twice, or a bad count.
    """
    words, counts = _split(_lines(path))
    _check(words, path)
    return WordList(words, None if counts is None else _counts(counts, path))


def read_word_list(path: Path) -> tuple[list[str], int]:
    """Read words that somebody chose: each once, and how many lines repeat one.

    Blank lines, and blanks around a word, are none of it; counts may stand after the words. Raises
    MissingInputError, FormatError; InputError for a list of none.
    """
    words, _ = _split([kept for line in _lines(path) if (kept := line.strip())])
    if not words:
        raise InputError("holds no words", where=path)
    listed = list(dict.fromkeys(word.strip() for word in words))
    return listed, len(words) - len(listed)


def word_lines(words: list[str]) -> list[bytes]:
    """Return a word a line."""
    return [f"{word}\n".encode() for word in words]


def count_lines(vocabulary: Vocabulary, between: str) -> list[bytes]:
    """Return a word and its count a line."""
    pairs = zip(vocabulary.words, vocabulary.counts.tolist(), strict=True)
    return [f"{word}{between}{count}\n".encode() for word, count in pairs]


def _split(lines: list[str]) -> tuple[list[str], list[str] | None]:
    """Return words, and the counts after them where lines have such."""
    if any("\t" in line for line in lines):
        pairs = [line.partition("\t")[::2] for line in lines]
    elif lines and all(map(_ends_in_count, lines)):
        pairs = [line.rpartition(" ")[::2] for line in lines]
    else:
        return lines, None
    return [word for word, _ in pairs], [count for _, count in pairs]


def _lines(path: Path) -> list[str]:
    with opened(path, "a file of words") as source:
        content = source.read()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = f"{path} at byte {error.start:,}"
        raise FormatError("is not UTF-8", where=where, do="convert it to UTF-8") from None
    # A word may hold any character but tab and line feed, so no splitlines().
    lines = text.removesuffix("\n").split("\n") if text else []
    return [line.removesuffix("\r") for line in lines]


def _ends_in_count(line: str) -> bool:
    word, _, count = line.rpartition(" ")
    return bool(word) and _is_count(count)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _DIGITS


def _counts(counts: list[str], path: Path) -> Int64:
    for number, count in enumerate(counts, 1):
        if not _is_count(count):
            what, found = "no count after the word", repr(count[:40])
            raise FormatError(what, where=f"{path} line {number}", found=found)
    return np.array(list(map(int, counts)), np.int64)


def _check(words: list[str], path: Path) -> None:
    if not words:
        raise InputError("holds no words", where=path)
    seen: set[str] = set()
    for number, word in enumerate(words, 1):
        if not word or word in seen:
            what = f"the word {word!r} is there twice" if word else "an empty word"
            raise FormatError(what, where=f"{path} line {number}", do="remove the line")
        seen.add(word)
