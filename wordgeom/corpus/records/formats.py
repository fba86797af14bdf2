"""The forms of input: which one a file has, what that means for the options, and who reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.options import flag
from wordgeom.corpus.inputs import compression, hard_wrapping, misread_records
from wordgeom.corpus.inputs.readers import (
    Block,
    Source,
    is_stream,
    read_blocks,
    read_lines,
    read_pieces,
)
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import tsv
from wordgeom.corpus.records.conllu import read_conllu
from wordgeom.corpus.records.fasta import read_fasta
from wordgeom.corpus.records.fields import Fields
from wordgeom.corpus.records.jsonl import read_jsonl
from wordgeom.corpus.records.kmers import cut_kmers

_BY_SUFFIX = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".tsv": "tsv",
    ".conllu": "conllu",
    ".fasta": "fasta",
    ".fa": "fasta",
    ".faa": "fasta",
    ".fna": "fasta",
}
# Suffixes of what is neither text nor records as they are read here, and what to do with it.
_ELSE = {
    ".csv": ("CSV", "save it as TSV or JSONL"),
    ".json": ("JSON", "save it as JSONL, an object a line"),
}
# The tokenisers that a form of input can have; the first is the one that `auto` means.
_TOKENISERS = {
    "text": ("words", "whitespace", "kmer"),
    "jsonl": ("words", "whitespace", "kmer"),
    "tsv": ("words", "whitespace", "kmer"),
    "conllu": ("whitespace", "words"),
    "fasta": ("kmer",),
}
OF_ONE_LINE = ("jsonl", "tsv")  # records whose text stands on the line of the record
_TEXT_FIELD = "text"
_BEGIN = 1 << 16  # bytes of a first line that are looked at for a message
_HEADER = "header"
# The forms that an option is for; True: all files must have such a form.
_BELONGS = {
    "text_field": (("jsonl", "tsv"), False),
    "id_field": (("jsonl", "tsv", "fasta"), True),
    "time_field": (("jsonl", "tsv"), True),
    "column": (("conllu",), False),
}


def form_of(name: str, options: CorpusOptions) -> str:
    """Return the form of a file, text, jsonl, tsv, conllu or fasta: as asked, or by its suffix."""
    if options.input_format != "auto":
        return options.input_format
    stem = _stem(name)
    return next((form for suffix, form in _BY_SUFFIX.items() if stem.endswith(suffix)), "text")


def resolve(names: Sequence[str], options: CorpusOptions) -> CorpusOptions:
    """Return the options with `auto` decided for these files; files of several forms stay `auto`.

    Raises OptionError where options contradict each other or the files; InputError for files that
    by their suffix are neither text nor records; MissingInputError.
    """
    if options.input_format == "auto":
        _refuse_else(names)
    forms = {form_of(name, options): name for name in reversed(names)}
    tokeniser = _tokeniser(forms, options)
    _check_belonging(forms, options)
    _check_documents(forms, tokeniser, options)
    if "tsv" in forms:
        _check_columns(forms["tsv"], options)
    if "fasta" in forms and options.id_field not in (None, _HEADER):
        do = f"--id-field {_HEADER} takes the first word of each"
        raise OptionError("FASTA has no fields but headers", found=options.id_field, do=do)
    field = _TEXT_FIELD if "jsonl" in forms and options.text_field is None else options.text_field
    decided = next(iter(forms)) if len(forms) == 1 else "auto"
    return replace(options, tokeniser=tokeniser, input_format=decided, text_field=field)


def blocks(source: Source, separators: bytes, options: CorpusOptions) -> Iterator[Block]:
    """Yield a file's text in blocks cut at a separator, documents on lines of their own.

    Where `source.listed`, a record is one line: that of OF_ONE_LINE its own, all others have line
    after line.

    Raises MissingInputError; FormatError for a broken packed file; InputError for what is in it.
    """
    form = form_of(source.name, options)
    kmers = form == "fasta" or options.tokeniser == "kmer"
    if form == "text":
        if kmers:
            return cut_kmers(_judged(read_pieces(source), source, options), source, options.k)
        return _judged(read_blocks(source, separators, options.bad_bytes), source, options)
    records = _records(source, form, options)
    return cut_kmers(records, source, options.k) if kmers else records


def _records(source: Source, form: str, options: CorpusOptions) -> Iterator[Block]:
    """Yield the records of a file, a line each."""
    if form == "fasta":
        return read_fasta(read_pieces(source), source, ids=options.id_field is not None)
    lines = read_lines(source, options.bad_bytes)
    if form == "conllu":
        return read_conllu(lines, source, options.column)
    fields = Fields(options.text_field or _TEXT_FIELD, options.id_field, options.time_field)
    if form == "tsv":
        return tsv.read_tsv(lines, source, fields)
    return read_jsonl(lines, source, fields, options.bad_bytes)


def _judged(text: Iterator[Block], source: Source, options: CorpusOptions) -> Iterator[Block]:
    """Yield the same blocks; note whether the first looks like records, or hard-wrapped."""
    of_lines = options.document == "line" and options.tokeniser != "kmer"
    for number, block in enumerate(text):
        if number == 0:
            source.looks = misread_records.judge(block.text)
            source.wrapped = (
                hard_wrapping.judge(block.text) if of_lines and not source.looks else {}
            )
        yield block


def _stem(name: str) -> str:
    """Return a name in small letters, without the suffix of a packed file."""
    stem = name.lower()
    for suffix in compression.SUFFIXES:
        stem = stem.removesuffix(suffix)
    return stem


def _refuse_else(names: Sequence[str]) -> None:
    """Refuse files that say what they are, and are not read so."""
    for name in names:
        for suffix, (called, do) in _ELSE.items():
            if _stem(name).endswith(suffix):
                do += ", or pass --input-format text to count it as it is"
                raise InputError(f"is {called}", where=name, do=do)


def _tokeniser(forms: dict[str, str], options: CorpusOptions) -> str:
    """Return the tokeniser asked for, if all forms can have it, or the one that they mean."""
    if options.tokeniser == "auto":
        meant = {_TOKENISERS[form][0] for form in forms} or {"words"}
        if len(meant) > 1:
            found = ", ".join(f"{form} ({name})" for form, name in sorted(forms.items()))
            do = "name one with --tokeniser, or count them apart and merge"
            raise OptionError("these inputs are cut by different tokenisers", found=found, do=do)
        return meant.pop()
    for form, name in forms.items():
        if options.tokeniser not in _TOKENISERS[form]:
            do = f"--tokeniser {' or '.join(_TOKENISERS[form])} can"
            what = f"--tokeniser {options.tokeniser} cannot cut {form}"
            raise OptionError(what, where=name, do=do)
    return options.tokeniser


def _check_belonging(forms: dict[str, str], options: CorpusOptions) -> None:
    """Refuse options of formats that no file has."""
    for name, (known, everywhere) in _BELONGS.items():
        if getattr(options, name) == getattr(CorpusOptions, name):
            continue
        others = sorted(set(forms) - set(known))
        if others and (everywhere or len(others) == len(forms)):
            do = "name the format with --input-format, or leave the option out"
            what = f"{flag(name)} belongs to {' and '.join(known)}"
            raise OptionError(what, where=forms[others[0]], found=others[0], do=do)


def _check_documents(forms: dict[str, str], tokeniser: str, options: CorpusOptions) -> None:
    """Refuse what would make documents of something else than records or sequences."""
    of_records = sorted(set(forms) - {"text"})
    if options.document != "line" and (of_records or tokeniser == "kmer"):
        what = f"a record of {of_records[0]}" if of_records else "each list of k-mers"
        do = "leave --document out"
        raise OptionError(f"{what} is a document", found=f"--document {options.document}", do=do)
    if options.k != CorpusOptions.k and tokeniser != "kmer":
        raise OptionError("--k belongs to --tokeniser kmer", found=f"--tokeniser {tokeniser}")


def _check_columns(name: str, options: CorpusOptions) -> None:
    if options.text_field is None:
        if is_stream(name):
            raise tsv.unnamed(name, b"")
        with closing(read_pieces(Source(name))) as pieces:
            first = next(pieces, None)
        raise tsv.unnamed(name, first.text.split(b"\n", 1)[0][:_BEGIN] if first else b"")
    given = [f for f in (options.text_field, options.id_field, options.time_field) if f is not None]
    for field in given:
        if tsv.by_number(field) and not 1 <= len(field.lstrip("0")) <= len(str(tsv.MOST)):
            raise OptionError("columns are counted from 1", found=field)
    if len({tsv.by_number(field) for field in given}) > 1:
        do = "name all columns by number, or all as the first line does"
        raise OptionError("columns by number and by name", found=", ".join(given), do=do)
