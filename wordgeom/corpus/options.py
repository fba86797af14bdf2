"""Options for reading a corpus."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.options import Options, option
from wordgeom.corpus.tokens.token_pattern import compiled


def case_of(tokeniser: str, case: str) -> str:
    """Return the case of tokens, keep or lower; by default, only `words` lower-cases."""
    if case != "auto":
        return case
    return "lower" if tokeniser in ("words", "auto") else "keep"


@dataclass(frozen=True)
class TextOptions(Options):
    """How text is read and split into tokens."""

    input_format: str = option(
        "auto",
        "input format; auto goes by the file suffix, else text",
        choices=("auto", "text", "jsonl", "csv", "tsv", "parquet", "conllu", "fasta"),
    )
    text_field: str | None = option(
        None, "field or column of the text  [JSONL, Parquet: text]", metavar="FIELD"
    )
    id_field: str | None = option(None, "field of the record ID (FASTA: header)", metavar="FIELD")
    time_field: str | None = option(None, "field of the record time", metavar="FIELD")
    time_from_name: str | None = option(
        None,
        "regular expression whose group is the time in a file's name (build-dtm, embed)",
        metavar="REGEX",
    )
    metadata: str | None = option(
        None,
        "table (.tsv, .csv) with the --id-field and --time-field of files (build-dtm, embed)",
        metavar="FILE",
    )
    bad_records: str = option(
        "error",
        "malformed records (no JSON, a missing cell or text): raise an error, or skip",
        choices=("error", "skip"),
    )
    header: str = option(
        "auto",
        "is the first row of a table with numbered columns a header? auto: by its content",
        choices=("auto", "yes", "no"),
    )
    delimiter: str = option(
        "auto",
        "what separates the cells of CSV; auto goes by the first rows",
        choices=("auto", "comma", "semicolon", "tab", "pipe"),
    )
    column: str = option(
        "form", "column of CoNLL-U files to read: word forms or lemmas", choices=("form", "lemma")
    )
    tokeniser: str = option(
        "auto",
        "words, whitespace, or kmer; auto follows the input format",
        choices=("auto", "words", "whitespace", "kmer"),
    )
    token_pattern: str | None = option(
        None, "tokens are the matches of this regular expression in a line", metavar="REGEX"
    )
    case: str = option(
        "auto",
        "case of tokens; auto lower-cases, except with whitespace and kmer",
        choices=("auto", "keep", "lower"),
    )
    strip: str = option(
        "none",
        "remove tags and entities (<br />, &amp;) or _emphasis_ from the text",
        choices=("none", "tags", "emphasis", "all"),
    )
    normalise: str = option(
        "NFC",
        "Unicode form of the text; NFKC also replaces ligatures and width variants",
        choices=("NFC", "NFKC", "none"),
    )
    k: int = option(3, "length of a k-mer", low=1, high=100, metavar="K")
    document: str = option(
        "line",
        "what is a document: a line, a block between blank lines, or a file",
        choices=("line", "block", "file"),
    )
    bad_bytes: str = option(
        "error",
        "invalid UTF-8: raise an error, replace with U+FFFD, or skip",
        choices=("error", "replace", "skip"),
    )

    def __post_init__(self) -> None:
        for name in ("text_field", "id_field", "time_field"):
            number = getattr(self, name)
            if type(number) is int:  # a column, from Python or TOML
                object.__setattr__(self, name, str(number))
        super().__post_init__()


@dataclass(frozen=True)
class CorpusOptions(TextOptions):
    """How text is read, split into tokens and reduced to a vocabulary."""

    min_count: int = option(5, "minimum count of a word", low=1, metavar="N")
    max_vocab: int = option(0, "maximum vocabulary size; 0 for no limit", low=0, metavar="N")
    sample: float = option(
        0.0,
        "subsampling threshold (1e-3 to 1e-5; 0: off); as word2vec with --oov drop",
        low=0.0,
        high=1.0,
        metavar="T",
    )
    oov: str = option(
        "keep",
        "out-of-vocabulary tokens: keep their place in windows, or drop them (GloVe)",
        choices=("keep", "drop"),
    )
    read_vocab: str | None = option(
        None, "vocabulary, one word per line; replaces --min-count and --max-vocab", metavar="FILE"
    )
    stop_words: str | None = option(
        None, "words to exclude from the vocabulary, one per line", metavar="FILE"
    )
    keep_words: str | None = option(
        None, "words to include despite --min-count and --max-vocab", metavar="FILE"
    )
    phrases: int = option(
        0,
        "number of passes that join phrases with _; N passes join up to 2^N words",
        low=0,
        high=8,
        metavar="N",
    )
    phrase_threshold: float = option(
        5.0,
        "minimum PMI of a phrase, after its count is reduced by --min-count",
        low=-100.0,
        high=100.0,
        metavar="PMI",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.token_pattern is not None:
            compiled(self.token_pattern)

    @property
    def has_times(self) -> bool:
        """Whether documents are to have times."""
        return self.time_field is not None or self.time_from_name is not None


@dataclass(frozen=True)
class PassageOptions(Options):
    """How documents are split into the rows of a document-term matrix."""

    passages: int | None = option(
        None, "split documents into passages of N tokens, a row each",
        low=1, high=10_000_000, metavar="N",
    )  # fmt: skip


@dataclass(frozen=True)
class VocabularyOptions(Options):
    """What is counted of a text."""

    vocab_only: bool = option(False, "count words only, without contexts  [-o vocab]")
