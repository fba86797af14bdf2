"""Words files of other programs' matrices and vectors: one word per line, optionally a count."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.errors import FormatError, InputError
from wordgeom.core.types import Int64
from wordgeom.storage.opening import opened

_SUFFIX = ".words.txt"
_MAX_DIGITS = 18  # of a count


@dataclass(frozen=True)
class WordList:
    """words (V) and their counts (V), None if the file has none."""

    words: list[str]
    counts: Int64 | None


def companion_path(path: Path, suffix: str = _SUFFIX) -> Path:
    """Return the words file of a matrix or vectors file: `m.words.txt` for `m.mtx.gz`."""
    stem = path.name.removesuffix(".gz")
    return path.with_name(stem.removesuffix(Path(stem).suffix) + suffix)


def read_words(path: Path) -> WordList:
    """Read lines of `word TAB count`, `word count` (GloVe's format) or `word`.

    The format is the first that fits: any line has a tab, or all lines end in a space and a count.
    Raises MissingInputError; FormatError for an empty or repeated word or a malformed count.
    """
    words, counts = _split(_lines(path))
    _check(words, path)
    return WordList(words, None if counts is None else _counts(counts, path))


def read_word_list(path: Path) -> tuple[list[str], int]:
    """Read a hand-made list of words: return each once, and the number of repetitions.

    Ignores blank lines, white space around words, and counts after them. Raises MissingInputError,
    FormatError; InputError for an empty list.
    """
    words, _ = _split([stripped for line in _lines(path) if (stripped := line.strip())])
    if not words:
        raise InputError("contains no words", where=path, do="write one word a line")
    listed = list(dict.fromkeys(word.strip() for word in words))
    return listed, len(words) - len(listed)


def words_bytes(words: list[str]) -> bytes:
    """Return the content of a file of words without counts."""
    return "".join([f"{word}\n" for word in words]).encode()


def _split(lines: list[str]) -> tuple[list[str], list[str] | None]:
    """Split lines into words and counts, None if the lines have no counts."""
    if any("\t" in line for line in lines):
        pairs = [line.partition("\t")[::2] for line in lines]
    elif lines and all(map(_ends_in_count, lines)):
        pairs = [line.rpartition(" ")[::2] for line in lines]
    else:
        return lines, None
    return [word for word, _ in pairs], [count for _, count in pairs]


def _lines(path: Path) -> list[str]:
    with opened(path, "a words file") as source:
        content = source.read()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = f"{path} at byte {error.start:,}"
        raise FormatError("not UTF-8", where=where, do="convert the file to UTF-8") from None
    # splitlines() would also split at characters that a word may contain.
    lines = text.removesuffix("\n").split("\n") if text else []
    return [line.removesuffix("\r") for line in lines]


def _ends_in_count(line: str) -> bool:
    word, _, count = line.rpartition(" ")
    return bool(word) and _is_count(count)


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS


def _counts(counts: list[str], path: Path) -> Int64:
    for number, count in enumerate(counts, 1):
        if not _is_count(count):
            what, found = "expected a count after the word", repr(count[:40])
            raise FormatError(what, where=f"{path} line {number}", found=found)
    return np.array(list(map(int, counts)), np.int64)


def _check(words: list[str], path: Path) -> None:
    if not words:
        raise InputError("contains no words", where=path, do="write one word a line")
    seen: set[str] = set()
    for number, word in enumerate(words, 1):
        if not word or word in seen:
            what = f"repeated word {word!r}" if word else "empty word"
            raise FormatError(what, where=f"{path} line {number}", do="remove the line")
        seen.add(word)
