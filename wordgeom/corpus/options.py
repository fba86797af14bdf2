"""The options of reading a corpus."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.options import Options, option


@dataclass(frozen=True)
class CorpusOptions(Options):
    """How text becomes tokens and words."""

    tokeniser: str = option(
        "words",
        "words: runs of letters and digits in any script, lower-cased; "
        "whitespace: what stands between white space, as it is",
        choices=("words", "whitespace"),
    )
    document: str = option(
        "line",
        "what a document is: a line, a block of lines between empty ones, or a file; "
        "windows do not reach across",
        choices=("line", "block", "file"),
    )
    bad_bytes: str = option(
        "error",
        "bytes that are not UTF-8: error, replace by U+FFFD, or skip",
        choices=("error", "replace", "skip"),
    )
    min_count: int = option(5, "leave out words seen less often", low=1, metavar="N")
    max_vocab: int = option(0, "keep at most this many words, 0 for all", low=0, metavar="N")
    sample: float = option(
        0.0,
        "thin out frequent words as word2vec does, at this threshold (1e-3 … 1e-5; 0: off)",
        low=0.0,
        high=1.0,
        metavar="T",
    )
    oov: str = option(
        "keep",
        "a token without a row keeps its place in the window, or is dropped first as in GloVe",
        choices=("keep", "drop"),
    )
    read_vocab: str | None = option(
        None,
        "take the words, in order, from this file (a word a line) "
        "instead of --min-count and --max-vocab",
        metavar="FILE",
    )
