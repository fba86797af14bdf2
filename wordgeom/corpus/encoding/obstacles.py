"""Whether a text can be read in parts, and where it may be cut."""

from __future__ import annotations

from collections.abc import Sequence

from wordgeom.corpus.encoding.tokenise_block import tokeniser_of
from wordgeom.corpus.inputs.readers import is_compressed, is_stream
from wordgeom.corpus.inputs.text_parts import Text
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import formats
from wordgeom.corpus.tokens.markup import ALL, TAGS

_LINES = b"\n"
_CUT = ("text", "jsonl")  # formats that can be read from the middle


def obstacle(names: Sequence[str], options: CorpusOptions) -> str:
    """Return why a text can only be read from its start, "" if parts of it can be read."""
    of_records = options.id_field is not None or options.has_times
    for name, used in (
        ("--phrases", options.phrases > 0),
        ("--sample", options.sample > 0),
        ("--tokeniser kmer", options.tokeniser == "kmer"),
        (f"--strip {options.strip}", options.strip in (TAGS, ALL)),
        ("the line number of a record", of_records),
    ):
        if used:
            return f"{name} depends on all text before"
    for name in names:
        if is_stream(name):
            return f"{name} is a pipe"
        if formats.format_of(name, options) not in _CUT:
            return f"{name} is neither plain text nor JSON Lines"
        if is_compressed(name):
            return f"{name} is compressed"
    return ""


def text_of(names: Sequence[str], options: CorpusOptions) -> Text:
    """Return a text that can be read in parts."""
    records = any(formats.format_of(name, options) == "jsonl" for name in names)
    return Text.of(names, _LINES if records else tokeniser_of(options).separators)
