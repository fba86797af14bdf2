"""The options of reading a corpus."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.options import Options, option


@dataclass(frozen=True)
class CorpusOptions(Options):
    """How text becomes tokens and words."""

    input_format: str = option(
        "auto",
        "what the files are: auto tells by the suffix (.jsonl .ndjson .tsv .conllu .fasta .fa .faa "
        ".fna, packed or not), else text; a record or a sentence is a document",
        choices=("auto", "text", "jsonl", "tsv", "conllu", "fasta"),
    )
    text_field: str | None = option(
        None,
        "the text: a field of .jsonl (a.b for b inside a; text if left out), a column of .tsv by "
        "number from 1, or by name in its first line (quotes mean nothing)",
        metavar="FIELD",
    )
    id_field: str | None = option(
        None,
        "the field of each record's id, kept in documents.tsv; header for FASTA",
        metavar="FIELD",
    )
    time_field: str | None = option(
        None, "the field of each record's time, kept in documents.tsv", metavar="FIELD"
    )
    column: str = option(
        "form", "the words of .conllu: as written, or lemmas", choices=("form", "lemma")
    )
    tokeniser: str = option(
        "auto",
        "words: runs of letters and digits in any script, lower-cased; "
        "whitespace: what stands between white space, as it is; "
        "kmer: a sequence's letters by --k, in k shifted lists; "
        "auto: kmer for FASTA, the file's words for .conllu, words for all else",
        choices=("auto", "words", "whitespace", "kmer"),
    )
    k: int = option(3, "letters of a k-mer", low=1, high=100, metavar="K")
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
    stop_words: str | None = option(
        None,
        "give the words of this file (a word a line) no row; --oov decides on their places",
        metavar="FILE",
    )
    keep_words: str | None = option(
        None,
        "give the words of this file a row whatever --min-count and --max-vocab say",
        metavar="FILE",
    )
    phrases: int = option(
        0,
        "join neighbours that belong together by _, in N passes: one makes phrases of two words, "
        "two of up to four",
        low=0,
        high=8,
        metavar="N",
    )
    phrase_threshold: float = option(
        5.0,
        "the PMI that a pair needs to be joined, its count lowered by --min-count; less joins more",
        low=-100.0,
        high=100.0,
        metavar="PMI",
    )
