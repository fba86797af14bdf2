"""Input formats: the format of a file, its effect on the options, and its reader."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import listed
from wordgeom.core.options import flag
from wordgeom.corpus.inputs import compression
from wordgeom.corpus.inputs.input_warnings import (
    UNSEGMENTED,
    hard_wrapping,
    is_unsegmented,
    markup_in,
    records_format,
)
from wordgeom.corpus.inputs.readers import (
    Block,
    Source,
    is_stream,
    read_blocks,
    read_lines,
    read_pieces,
)
from wordgeom.corpus.options import CorpusOptions, case_of
from wordgeom.corpus.records.columns import MOST, by_number, unnamed
from wordgeom.corpus.records.conllu import read_conllu
from wordgeom.corpus.records.csv_records import COPIES, first_row, read_csv
from wordgeom.corpus.records.fasta import read_fasta
from wordgeom.corpus.records.fields import Fields
from wordgeom.corpus.records.jsonl import read_jsonl
from wordgeom.corpus.records.kmers import cut_kmers
from wordgeom.corpus.records.parquet import read_parquet
from wordgeom.corpus.records.tsv import cells_of, read_tsv
from wordgeom.corpus.tokens.token_pattern import cut_words

_BY_SUFFIX = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".tsv": "tsv",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".conllu": "conllu",
    ".fasta": "fasta",
    ".fa": "fasta",
    ".faa": "fasta",
    ".fna": "fasta",
}
# Suffixes of formats that are not supported, and what to do with such files.
_UNSUPPORTED = {
    ".json": ("JSON", "save it as JSONL, one object per line"),
}
# The tokenisers that each format supports; `auto` means the first.
_TOKENISERS = {
    "text": ("words", "whitespace", "kmer"),
    "jsonl": ("words", "whitespace", "kmer"),
    "tsv": ("words", "whitespace", "kmer"),
    "csv": ("words", "whitespace", "kmer"),
    "parquet": ("words", "whitespace", "kmer"),
    "conllu": ("whitespace", "words"),
    "fasta": ("kmer",),
}
SINGLE_LINE = ("jsonl", "tsv")  # formats whose records take one line each
_TABLES = ("tsv", "csv")
_RECORDS = ("jsonl", *_TABLES, "parquet")
_WITH_TEXT = {"jsonl", "parquet"}  # formats whose text is in the field `text` by default
_TEXT_FIELD = "text"
_FIRST_ROWS = 1 << 16  # bytes of first rows that a message may need
_HEADER = "header"
_OF_FILES = ("id_field", "time_field")  # options that apply to --metadata if that is given
# The formats that an option applies to; True: all files must have such a format.
_APPLIES = {
    "text_field": (_RECORDS, False),
    "id_field": ((*_RECORDS, "fasta"), True),
    "time_field": (_RECORDS, True),
    "metadata": (("text",), True),
    "bad_records": (_RECORDS, False),
    "column": (("conllu",), False),
    "header": (_TABLES, False),
    "delimiter": (("csv",), False),
}


def format_of(name: str, options: CorpusOptions) -> str:
    """Return the format of a file, as the options or its suffix say."""
    if options.input_format != "auto":
        return options.input_format
    stem = _stem(name)
    return next((known for suffix, known in _BY_SUFFIX.items() if stem.endswith(suffix)), "text")


def resolve(names: Sequence[str], options: CorpusOptions) -> CorpusOptions:
    """Return the options with `auto` resolved for these files; mixed formats stay `auto`.

    Raises OptionError if options contradict each other or the files; InputError for files with the
    suffix of an unsupported format; MissingInputError.
    """
    if options.input_format == "auto":
        _reject_unsupported(names)
    formats = {format_of(name, options): name for name in reversed(names)}
    tokeniser = _tokeniser(formats, options)
    _check_tokens(tokeniser, options)
    _check_applies(formats, options)
    _check_labels(options)
    _check_documents(formats, tokeniser, options)
    for table in _TABLES:
        if table in formats:
            _check_columns(formats[table], table, options)
    if "fasta" in formats and options.id_field not in (None, _HEADER):
        do = f"--id-field {_HEADER} takes the first word of each"
        raise OptionError(f"FASTA has no field {options.id_field!r}, only headers", do=do)
    named = options.text_field is not None or _WITH_TEXT.isdisjoint(formats)
    field = options.text_field if named else _TEXT_FIELD
    resolved = next(iter(formats)) if len(formats) == 1 else "auto"
    case = case_of(tokeniser, options.case)
    return replace(options, tokeniser=tokeniser, case=case, input_format=resolved, text_field=field)


def mixture_note(names: Sequence[str], options: CorpusOptions) -> str | None:
    """Return a note on files of several formats, as a directory may contain a README."""
    formats: dict[str, list[str]] = {}
    for name in names:
        formats.setdefault(format_of(name, options), []).append(name)
    each = [f"{known}: {len(alike):,} ({alike[0]})" for known, alike in sorted(formats.items())]
    return f"files of several formats: {'; '.join(each)}" if len(each) > 1 else None


def blocks(source: Source, separators: bytes, options: CorpusOptions) -> Iterator[Block]:
    """Yield a file's text in blocks that end at a separator, documents on separate lines.

    If `source.listed`, each record is one line: in SINGLE_LINE formats its own line of the file, in
    others the next line. Raises MissingInputError; FormatError for a corrupt compressed file;
    InputError for unsupported content.
    """
    format_name = format_of(source.name, options)
    kmers = format_name == "fasta" or options.tokeniser == "kmer"
    if format_name == "text":
        if kmers:
            return cut_kmers(_inspected(read_pieces(source), source, options), source, options.k)
        text = _inspected(read_blocks(source, separators, options.bad_bytes), source, options)
        return _searched(text, source, options)
    records = _records(source, format_name, options)
    return cut_kmers(records, source, options.k) if kmers else _searched(records, source, options)


def _records(source: Source, format_name: str, options: CorpusOptions) -> Iterator[Block]:
    """Yield the records of a file, one a line."""
    if format_name == "fasta":
        return read_fasta(read_pieces(source), source, ids=options.id_field is not None)
    skip = options.bad_records == "skip"
    text_field = options.text_field or _TEXT_FIELD
    fields = Fields(text_field, options.id_field, options.time_field, skip)
    if format_name == "parquet":
        return read_parquet(source, fields, options.bad_bytes)
    lines = read_lines(source, options.bad_bytes, COPIES if format_name == "csv" else 1)
    if format_name == "conllu":
        return read_conllu(lines, source, options.column)
    if format_name == "tsv":
        return read_tsv(lines, source, fields, options.header)
    if format_name == "csv":
        return read_csv(lines, source, fields, options.header, options.delimiter)
    return read_jsonl(lines, source, fields, options.bad_bytes)


def _searched(text: Iterator[Block], source: Source, options: CorpusOptions) -> Iterator[Block]:
    """Yield the same blocks; look for markup, and words that a pattern cuts, in the first one."""
    pattern = options.token_pattern
    for number, block in enumerate(text):
        if number == 0:
            source.markup = markup_in(block.text)
            source.cut = cut_words(pattern, block.text) if pattern is not None else {}
        yield block


def _inspected(text: Iterator[Block], source: Source, options: CorpusOptions) -> Iterator[Block]:
    """Yield the same blocks; detect records and hard wrapping in the first one."""
    of_lines = options.document == "line" and options.tokeniser != "kmer"
    for number, block in enumerate(text):
        if number == 0:
            source.looks = records_format(block.text)
            check = of_lines and not source.looks
            cuts = options.tokeniser != "kmer" and options.token_pattern is None
            if not source.looks and cuts and is_unsegmented(block.text):
                source.looks, check = UNSEGMENTED, False
            source.wrapped = hard_wrapping(block.text) if check else {}
        if source.every_line:
            unended = block.last and not block.text.endswith(b"\n") and len(block.text) > 0
            source.lines += block.text.count(b"\n") + unended
        yield block


def _stem(name: str) -> str:
    """Return a name in lower case without the suffix of a compressed file."""
    stem = name.lower()
    for suffix in compression.SUFFIXES:
        stem = stem.removesuffix(suffix)
    return stem


def _reject_unsupported(names: Sequence[str]) -> None:
    """Reject files whose suffix names an unsupported format."""
    for name in names:
        for suffix, (title, do) in _UNSUPPORTED.items():
            if _stem(name).endswith(suffix):
                do += ", or pass --input-format text to read it as plain text"
                raise InputError(f"{title} is not supported", where=name, do=do)


def _tokeniser(formats: dict[str, str], options: CorpusOptions) -> str:
    """Return the requested tokeniser if all formats support it, or the default of the formats."""
    if options.tokeniser == "auto":
        if options.token_pattern is not None and "fasta" not in formats:
            return "words"
        defaults = {_TOKENISERS[name][0] for name in formats} or {"words"}
        if len(defaults) > 1:
            found = ", ".join(f"{name} ({path})" for name, path in sorted(formats.items()))
            do = "choose one with --tokeniser, or count the inputs separately and merge"
            raise OptionError(f"these inputs need different tokenisers: {found}", do=do)
        return defaults.pop()
    for format_name, path in formats.items():
        if options.tokeniser not in _TOKENISERS[format_name]:
            do = f"pass --tokeniser {' or '.join(_TOKENISERS[format_name])}"
            what = f"--tokeniser {options.tokeniser} does not support {format_name}"
            raise OptionError(what, where=path, do=do)
    return options.tokeniser


def _check_applies(formats: dict[str, str], options: CorpusOptions) -> None:
    """Reject options for formats that no file has."""
    for name, (supported, everywhere) in _APPLIES.items():
        if not options.is_set(name):
            continue
        of_files = name in _OF_FILES and options.metadata is not None
        if of_files or (name == "bad_records" and options.time_from_name is not None):
            continue
        others = sorted(set(formats) - set(supported))
        if others and (everywhere or len(others) == len(formats)):
            do = "set the format with --input-format, or leave the option out"
            what = f"{flag(name)} applies to {listed(supported)}, not to {others[0]}"
            raise OptionError(what, where=formats[others[0]], do=do)


def _check_labels(options: CorpusOptions) -> None:
    """Reject two sources of one time, and --metadata without a column to take."""
    if options.time_from_name is not None and options.time_field is not None:
        do = "leave one of them out"
        raise OptionError("the time has two sources, --time-from-name and --time-field", do=do)
    if options.metadata is not None and options.id_field is None and options.time_field is None:
        do = "name the columns of the table to take"
        raise OptionError("--metadata needs --id-field or --time-field", do=do)


def _check_tokens(tokeniser: str, options: CorpusOptions) -> None:
    """Reject options on tokens that have no effect."""
    for name in ("token_pattern", "strip", "normalise"):
        if tokeniser == "kmer" and options.is_set(name):
            raise OptionError(f"{flag(name)} has no effect on k-mers", do=f"leave {flag(name)} out")
    if options.token_pattern is not None and options.tokeniser == "whitespace":
        what = "--token-pattern and --tokeniser whitespace are mutually exclusive"
        raise OptionError(what, do="omit one of them")


def _check_documents(formats: dict[str, str], tokeniser: str, options: CorpusOptions) -> None:
    """Reject --document for records and k-mers, and --k without k-mers."""
    of_records = sorted(set(formats) - {"text"})
    if options.document != "line" and (of_records or tokeniser == "kmer"):
        what = f"each {of_records[0]} record" if of_records else "each list of k-mers"
        given = f"--document {options.document}"
        raise OptionError(f"{what} is a document, whatever {given} says", do="leave --document out")
    if options.is_set("k") and tokeniser != "kmer":
        raise OptionError(f"--k needs --tokeniser kmer, not {tokeniser}", do="leave --k out")


def _check_columns(name: str, table: str, options: CorpusOptions) -> None:
    """Reject contradictory columns of a table, and --text-field that was left out."""
    if options.text_field is None:
        raise unnamed(name, table, [] if is_stream(name) else _first_cells(name, table, options))
    given = [f for f in (options.text_field, options.id_field, options.time_field) if f is not None]
    for field in given:
        if by_number(field) and not 1 <= len(field.lstrip("0")) <= len(str(MOST)):
            raise OptionError(f"there is no column {field}; columns are numbered from 1")
    if options.header == "no" and not by_number(options.text_field):
        what = "columns by name need a header, and --header no says there is none"
        raise OptionError(what, do="give the columns by number, or leave --header out")
    if len({by_number(field) for field in given}) > 1:
        do = "give all columns by number, or all by name"
        what = f"columns are given by number and by name ({', '.join(given)})"
        raise OptionError(what, do=do)


def _first_cells(name: str, table: str, options: CorpusOptions) -> list[str]:
    """Return the cells of the first row of a file."""
    with closing(read_pieces(Source(name))) as pieces:
        first = next(pieces, None)
    text = first.text[:_FIRST_ROWS] if first else b""
    return first_row(text, options.delimiter) if table == "csv" else cells_of(text.split(b"\n")[0])
