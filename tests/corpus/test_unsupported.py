"""Files that are no text are refused as what they are; text that looks like records is told."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
from corpora import assert_one_line, put, read

from wordgeom.core.errors import InputError
from wordgeom.corpus.inputs import misread_records
from wordgeom.corpus.inputs.input_warnings import remarks
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import formats

ALL = CorpusOptions(min_count=1)


def zipped(*members: str) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in members:
            archive.writestr(name, "application/epub+zip" if name == "mimetype" else "a b c")
    return held.getvalue()


def tarred(form: int) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", format=form) as archive:
        archive.addfile(tarfile.TarInfo("a.txt"), io.BytesIO(b""))
    return held.getvalue()


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (zipped("a.txt"), "is a zip archive, not text; unpack it: unzip"),
        (zipped(), "is a zip archive"),
        (zipped("_rels/.rels", "xl/workbook.xml"), "is a workbook, not text; save it as TSV"),
        (zipped("word/document.xml"), "is a document of a word processor, not text; save it as"),
        (tarred(tarfile.PAX_FORMAT), "is a tar archive, not text; unpack it: tar xf"),
        (tarred(tarfile.GNU_FORMAT), "is a tar archive"),
        (gzip.compress(tarred(tarfile.USTAR_FORMAT), mtime=0), "is a tar archive"),
        (b"%PDF-1.7\n%\xe2\xe3\n1 0 obj", "is PDF, not text; convert it: pdftotext"),
        ("가는 말이 고와야".encode("utf-16"), "a mark of UTF-16; convert it: iconv"),
        ("an end".encode("utf-16-le"), "many zero bytes; convert it: iconv"),
        ("가는말이고와야오는".encode("utf-16-le") + b"\1\2\3", "; check that this is text"),
    ],
)
def test_what_is_no_text_is_refused_as_what_it_is(tmp_path: Path, content: bytes, line: str):
    (path,) = put(tmp_path, content)
    for form in ("text", "jsonl"):
        with pytest.raises(InputError) as caught:
            read([path], CorpusOptions(input_format=form))
        assert_one_line(caught, path, line)
        assert "--bad-bytes" not in str(caught.value)


@pytest.mark.parametrize("text", ["PK is a name", "%PDF- begins one", "x" * 257 + "ustar y"])
def test_text_that_only_begins_alike_is_text(tmp_path: Path, text: str):
    (path,) = put(tmp_path, text)
    assert read([path], ALL).tokens > 0


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.CSV", "is CSV; save it as TSV or JSONL, or pass --input-format text to count it as"),
        ("a.csv.gz", "is CSV"),
        ("a.json", "is JSON; save it as JSONL, an object a line, or pass --input-format text"),
    ],
)
def test_a_suffix_that_is_not_read_is_refused_unless_a_format_is_named(name: str, line: str):
    with pytest.raises(InputError) as caught:
        formats.resolve(["a.txt", name], ALL)
    assert_one_line(caught, name, line)
    asked = CorpusOptions(input_format="text")
    assert formats.resolve([name], asked).input_format == "text"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ('{"text": "a"}\n{"text": "b"}\n', "jsonl"),
        ('\n{"text": "a"}', "jsonl"),
        ("{a set}\n", ""),
        ("{" * 9, ""),
        (">a\nACG\n>b\nACG\n", "fasta"),
        (">> he said\nthat\n", ""),
        ("a\tb\n\nc\td\r\n", "tsv"),
        ("a\tb\nc\n", ""),
        ("a\tb", ""),
        ("a b\nc d\n", ""),
        ("", ""),
    ],
)
def test_text_that_looks_like_records_is_told_apart(text: str, form: str):
    assert misread_records.judge(text.encode()) == form


@pytest.mark.parametrize("width", [1, 900, 70_000])
def test_long_tables_are_told_wherever_what_is_looked_at_ends(width: int):
    row = b"x" * width + b"\tcell\n"
    assert misread_records.judge(row * (3 * (1 << 20) // width)) == "tsv"


@pytest.mark.parametrize("tokeniser", ["words", "kmer"])
def test_records_counted_as_text_are_told_with_what_to_pass(tmp_path: Path, tokeniser: str):
    asked = CorpusOptions(tokeniser=tokeniser, min_count=1)
    sources = [Source(str(path)) for path in put(tmp_path, ">a\nACG\n>b\nAC\n" * 9, ">a\nA\n>b\n")]
    for source in sources:
        for _ in formats.blocks(source, b" \n", asked):
            pass
    assert remarks(sources)[-1] == (
        f"{sources[0].name} looks like FASTA and was counted as text; pass --input-format fasta "
        "(so does 1 more file)"
    )


def test_files_of_nothing_among_others_are_told(tmp_path: Path):
    sources = read(put(tmp_path, "a b", "", gzip.compress(b"")), ALL).sources
    empty = f"holds nothing: {sources[1].name}, {sources[2].name}"
    assert remarks(sources) == [empty]
    assert remarks(sources[1:2]) == []
