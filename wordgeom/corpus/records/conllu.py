"""CoNLL-U: a word a line in ten columns, sentences between blank lines; a sentence is a document.

Format: universaldependencies.org/format.html. Words are syntactic ones: the ranges of written words
that they were split from (`1-2`) and empty nodes (`1.1`) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wordgeom.corpus.inputs.document_index import Record
from wordgeom.corpus.inputs.readers import Block, Source
from wordgeom.corpus.records.fields import SHOWN, converted, lines_of, refuse

_COLUMNS = 10
_AT = {"form": 1, "lemma": 2}
_NOT_WORDS = re.compile(rb"[0-9]+[-.][0-9]+")
_TO_ONE_WORD = bytes.maketrans(b" \0\v\f\r", b"_____")


def read_conllu(lines: Iterator[Block], source: Source, column: str) -> Iterator[Block]:
    """Yield the words of each sentence as a line. column: form, or lemma, `_` meaning the form.

    Blanks in a word become `_`. Raises InputError naming the line.
    """
    from wordgeom.corpus.tokens.kernels import MAX_TOKEN

    begun = False  # a sentence
    for block in lines:
        out: list[bytes] = []
        sentences: list[Record] = []
        rows = lines_of(block.text)
        # What follows the last line end is no blank line.
        ended = rows[:-1] if block.text.endswith(b"\n") else rows
        for number, row in enumerate(ended, block.line):
            if not row.strip():
                out.append(b"\n" if begun else b"")
                begun = False
            elif not row.startswith(b"#"):
                word = _word(row, column, source.name, number)
                if len(word) > MAX_TOKEN:
                    refuse(source.name, number, "a word is too long", f"{len(word):,} bytes")
                if word and not begun:
                    sentences.append(Record("", "", number))
                    begun = True
                out.append(word)
        if source.listed:
            source.documents.add(sentences)
        yield converted(block, b"".join(out))


def _word(row: bytes, column: str, name: str, number: int) -> bytes:
    """Return the word of a line and a blank; nothing where the line stands for no word."""
    tabs = row.count(b"\t")
    if tabs != _COLUMNS - 1:
        do = "CoNLL-U has ten columns, separated by tabs"
        refuse(name, number, f"needs {_COLUMNS} columns", f"{tabs + 1:,}", do)
    cells = row.split(b"\t", 3)
    if not cells[0].isdigit():
        if _NOT_WORDS.fullmatch(cells[0]):
            return b""
        found = repr(cells[0].decode("utf-8", "replace")[:SHOWN])
        refuse(name, number, "has no number of a word", found, "check that this is CoNLL-U")
    word = cells[_AT[column]]
    if word == b"_":
        word = cells[_AT["form"]]
    if not word:
        refuse(name, number, f"has an empty {column}", do="write _ where there is none")
    return word.translate(_TO_ONE_WORD) + b" "
