"""Files that are not text are rejected by format; text that looks like records is reported."""

from __future__ import annotations

import gzip
import io
import pickle
import tarfile
import zipfile
from pathlib import Path

import pytest
from corpora import assert_one_line, put, read

from wordgeom.core.errors import InputError
from wordgeom.corpus.inputs.input_warnings import input_warnings, records_format
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
        (zipped("a.txt"), "is a zip archive, not text; unpack it with unzip"),
        (zipped(), "is a zip archive"),
        (zipped("_rels/.rels", "xl/workbook.xml"), "is a workbook, not text; save it as TSV"),
        (zipped("word/document.xml"), "is a word-processor document, not text; save it as"),
        (tarred(tarfile.PAX_FORMAT), "is a tar archive, not text; unpack it with tar xf"),
        (tarred(tarfile.GNU_FORMAT), "is a tar archive"),
        (gzip.compress(tarred(tarfile.USTAR_FORMAT), mtime=0), "is a tar archive"),
        (b"%PDF-1.7\n%\xe2\xe3\n1 0 obj", "is PDF, not text; convert it with pdftotext"),
        (zipped("ppt/presentation.xml"), "is a presentation, not text; save it as text"),
        (zipped("[Content_Types].xml"), "is an Office document, not text; save it as text, or"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", "is an Office document, not text"),
        (b"7z\xbc\xaf\x27\x1c\0\4 one", "is a 7-Zip archive, not text; unpack it with 7z x"),
        (b"Rar!\x1a\x07\x01\0 one two", "is a RAR archive"),
        (b"{\\rtf1\\ansi one two}", "is RTF, not text; save it as text"),
        (pickle.dumps({"the": 1.5}), "is a Python pickle, not text; export it as text"),
        ("가는 말이 고와야".encode("utf-16"), "found a UTF-16 byte order mark; convert it"),
        ("가는 말이 고와야".encode("utf-32"), "UTF-32, found a UTF-32 byte order mark; convert"),
        (b"\0\0\xfe\xff" + "дом".encode("utf-32-be"), "iconv -f UTF-32 -t UTF-8"),
        ("an end".encode("utf-16-le"), "found many zero bytes; convert it with iconv -f UTF-16LE"),
        ("an end".encode("utf-16-be"), "iconv -f UTF-16BE -t UTF-8, if it is text"),
        ("가는 말이 고와야".encode("utf-32-le"), "iconv -f UTF-32LE"),
        ("東京".encode("utf-32-be"), "iconv -f UTF-32BE"),
        (bytes(range(256)) + bytes(300), "looks like binary data, found many zero bytes; check"),
        ("가는말이고와야오는".encode("utf-16-le") + b"\1\2\3", "; check that this is text"),
    ],
)
def test_a_file_that_is_not_text_is_rejected_by_format(tmp_path: Path, content: bytes, line: str):
    (path,) = put(tmp_path, content)
    for form in ("text", "jsonl"):
        with pytest.raises(InputError) as caught:
            read([path], CorpusOptions(input_format=form))
        assert_one_line(caught, path, line)
        assert "--bad-bytes" not in str(caught.value)


def test_an_archive_named_as_a_document_is_not_called_one(tmp_path: Path):
    path = tmp_path / "sheet.XLSX"
    path.write_bytes(zipped("a.txt"))
    with pytest.raises(InputError) as caught:
        read([path], CorpusOptions(input_format="text"))
    assert_one_line(caught, path, "is a zip archive named .xlsx, not text; unpack it with unzip")


@pytest.mark.parametrize("text", ["PK is a name", "%PDF- begins one", "x" * 257 + "ustar y"])
def test_text_that_begins_like_another_format_is_text(tmp_path: Path, text: str):
    (path,) = put(tmp_path, text)
    assert read([path], ALL).tokens > 0


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.JSON.gz", "JSON is not supported"),
        ("a.json", "JSON is not supported; save it as JSONL, one object per line, or pass"),
    ],
)
def test_an_unsupported_suffix_is_rejected_unless_a_format_is_given(name: str, line: str):
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
def test_records_in_plain_text_are_detected(text: str, form: str):
    assert records_format(text.encode()) == form


@pytest.mark.parametrize("width", [1, 900, 70_000])
def test_long_tables_are_detected_wherever_the_checked_bytes_end(width: int):
    row = b"x" * width + b"\tcell\n"
    assert records_format(row * (3 * (1 << 20) // width)) == "tsv"


@pytest.mark.parametrize("tokeniser", ["words", "kmer"])
def test_the_warning_about_misread_records_names_the_option(tmp_path: Path, tokeniser: str):
    asked = CorpusOptions(tokeniser=tokeniser, min_count=1)
    sources = [Source(str(path)) for path in put(tmp_path, ">a\nACG\n>b\nAC\n" * 9, ">a\nA\n>b\n")]
    for source in sources:
        for _ in formats.blocks(source, b" \n", asked):
            pass
    assert input_warnings(sources)[-1] == (
        f"{sources[0].name} looks like FASTA but was read as plain text; "
        "pass --input-format fasta (also 1 other file)"
    )


def test_line_ends_of_old_macintoshes_are_noticed(tmp_path: Path):
    lines = "the first line\r" * 9
    for text, noticed in ((lines, True), (lines.replace("\r", "\r\n"), False), ("a\rb", False)):
        (path,) = put(tmp_path, text)
        source = Source(str(path))
        assert len(list(formats.blocks(source, b" \n", CorpusOptions(min_count=1)))) > 0
        notes = " ".join(input_warnings([source]))
        assert ("has carriage returns for line ends" in notes) == noticed


def test_empty_files_among_others_are_reported(tmp_path: Path):
    sources = read(put(tmp_path, "a b", "", gzip.compress(b"")), ALL).sources
    empty = f"empty input: {sources[1].name}, {sources[2].name}"
    assert input_warnings(sources) == [empty]
    assert input_warnings(sources[1:2]) == []
