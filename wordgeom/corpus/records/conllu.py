"""CoNLL-U: one word a line in ten columns, sentences between blank lines; a sentence is a document.

Format: universaldependencies.org/format.html. Only syntactic words are read. Multiword tokens
(`1-2`) and empty nodes (`1.1`) are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wordgeom.corpus.inputs.document_index import Record
from wordgeom.corpus.inputs.readers import Block, Source
from wordgeom.corpus.records.fields import SHOWN, fail, lines_of, with_text

_COLUMNS = 10
_AT = {"form": 1, "lemma": 2}
_NOT_WORDS = re.compile(rb"[0-9]+[-.][0-9]+")
_TO_ONE_WORD = bytes.maketrans(b" \0\v\f\r", b"_____")


def read_conllu(lines: Iterator[Block], source: Source, column: str) -> Iterator[Block]:
    """Yield the words of each sentence as a line.

    column: form, or lemma, which falls back to the form where it is `_`. Spaces in a word become
    `_`. Raises InputError naming the line.
    """
    from wordgeom.corpus.tokens.lexicon_kernels import MAX_TOKEN  # other formats need no Numba

    in_sentence = False
    for block in lines:
        out: list[bytes] = []
        sentences: list[Record] = []
        rows = lines_of(block.text)
        # The empty string after the last line end is not a blank line.
        ended = rows[:-1] if block.text.endswith(b"\n") else rows
        for number, row in enumerate(ended, block.line):
            if not row.strip():
                out.append(b"\n" if in_sentence else b"")
                in_sentence = False
            elif not row.startswith(b"#"):
                word = _word(row, column, source.name, number)
                if len(word) > MAX_TOKEN:
                    fail(source.name, number, "the word is too long", f"{len(word):,} bytes")
                if word and not in_sentence:
                    sentences.append(Record("", "", number))
                    in_sentence = True
                out.append(word)
        if source.listed:
            source.documents.add(sentences)
        yield with_text(block, b"".join(out))


def _word(row: bytes, column: str, name: str, number: int) -> bytes:
    """Return the word of a line and a space; nothing for a line that is not a syntactic word."""
    tabs = row.count(b"\t")
    if tabs != _COLUMNS - 1:
        do = "CoNLL-U has ten columns, separated by tabs"
        fail(name, number, f"needs {_COLUMNS} columns", f"{tabs + 1:,}", do)
    cells = row.split(b"\t", 3)
    if not cells[0].isdigit():
        if _NOT_WORDS.fullmatch(cells[0]):
            return b""
        found = repr(cells[0].decode("utf-8", "replace")[:SHOWN])
        fail(name, number, "needs a word number in column 1", found, "check that this is CoNLL-U")
    word = cells[_AT[column]]
    if word == b"_":
        word = cells[_AT["form"]]
    if not word:
        fail(name, number, f"the {column} is empty", do="write _ for a missing value")
    return word.translate(_TO_ONE_WORD) + b" "
