"""Names of inputs, file formats, and texts of every kind, through to the words."""

from __future__ import annotations

import os
import random
import textwrap
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from corpora import assert_one_line, put, read, reference_tokens
from hypothesis import given, settings
from hypothesis import strategies as st

from wordgeom.core.errors import InputError, MissingInputError, OptionError
from wordgeom.corpus.inputs.input_warnings import hard_wrapping, input_warnings
from wordgeom.corpus.inputs.paths import expand, expansion_note
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import formats
from wordgeom.storage.opening import opened

ALL = CorpusOptions(min_count=1)

# Traditional proverbs.
KOREAN = "가는 말이 고와야 오는 말이 곱다. 낮말은 새가 듣고 밤말은 쥐가 듣는다."
RUSSIAN = "Тише едешь — дальше будешь. Ёж ежу не товарищ? Семь раз отмерь, один раз отрежь."


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files a.txt b.txt sub/c.txt sub/d.md, hidden ones, and a link from sub back to the top."""
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git").mkdir()
    for name in ("b.txt", "a.txt", "sub/c.txt", "sub/d.md", ".hidden.txt", ".git/e.txt"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    (tmp_path / "sub" / "up").symlink_to(tmp_path, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


# ── Names ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["sub/d.md", "a.txt"], ["sub/d.md", "a.txt"]),
        (["."], ["./a.txt", "./b.txt", "./sub/c.txt", "./sub/d.md"]),
        (["*.txt"], ["a.txt", "b.txt"]),
        (["[bc].*"], ["b.txt"]),
        (["**/*.txt"], ["a.txt", "b.txt", "sub/c.txt"]),
        (["**/?.*"], ["a.txt", "b.txt", "sub/c.txt", "sub/d.md"]),
        ([".*.txt"], [".hidden.txt"]),
        (["s*"], ["sub/c.txt", "sub/d.md", "sub/up/a.txt", "sub/up/b.txt"]),
        (["a.txt", "*.txt", "."], ["a.txt", "b.txt", "./sub/c.txt", "./sub/d.md"]),
        (["*.txt", "a.txt"], ["a.txt", "b.txt"]),
        (["*/c.*"], ["sub/c.txt"]),
        (["*/c.txt"], ["sub/c.txt"]),
        (["**/c.txt"], ["sub/c.txt"]),
        (["-", "none.txt"], ["-", "none.txt"]),
    ],
)
def test_directories_and_patterns_expand_to_files_each_read_once(
    tree: Path, names: list[str], expected: list[str]
):
    assert expand(names) == expected
    many = f"{len(expected)} file" + "s" * (len(expected) > 1)
    line = (expansion_note(names, expected) or "").split(";")[0]
    assert line == ("" if names == expected else f"{' '.join(names)}: {many}")


@pytest.mark.parametrize(
    ("names", "line"),
    [
        (["a.txt", "a.txt"], "a.txt a.txt: 1 file; repeated names read once: 1 file: a.txt"),
        (["*.txt", "a.txt"], "*.txt a.txt: 2 files; repeated names read once: 1 file: a.txt"),
        (
            ["a.txt", "sub/up/a.txt", "./a.txt"],
            "1 file; repeated names read once: 1 file: sub/up/a",
        ),
        ([".", "."], "4 files: ./a.txt, ./b.txt, ./sub/c.txt, …"),
    ],
)
def test_a_file_is_read_once_however_often_it_is_named(tree: Path, names: list[str], line: str):
    found = expand(names)
    assert len({os.path.realpath(name) for name in found}) == len(found)
    assert line in (expansion_note(names, found) or "")


def test_an_existing_file_is_no_pattern(tree: Path):
    (tree / "[b].txt").write_text("x", encoding="utf-8")
    assert expand(["[b].txt"]) == ["[b].txt"]


def test_names_without_a_file_are_rejected(tree: Path):
    (tree / "empty" / "in").mkdir(parents=True)
    (tree / "broken").mkdir()
    (tree / "broken" / "link").symlink_to("nowhere")
    (tree / "pipes").mkdir()
    os.mkfifo(tree / "pipes" / "pipe")
    cases: list[tuple[list[str], type[Exception], str]] = [
        (["empty"], MissingInputError, "empty: the directory contains no files; files whose names"),
        (["*.tex"], MissingInputError, "*.tex: no file matches this pattern; check"),
        (["a**b*"], OptionError, "a**b*: not a valid pattern; write ** alone"),
        (["broken"], MissingInputError, "broken/link: is a symbolic link to nowhere, which does"),
        (["pipes"], MissingInputError, "pipes/pipe: not a regular file; remove it"),
        (
            ["-", "a.txt", "-"],
            OptionError,
            "- is given twice; standard input can be read",
        ),
    ]
    for names, error, line in cases:
        with pytest.raises(error) as caught:
            expand(names)
        assert_one_line(caught, line)


def test_a_symbolic_link_to_no_file_is_called_one(tree: Path):
    (tree / "link.txt").symlink_to("nowhere.txt")
    line = "link.txt: is a symbolic link to nowhere.txt, which does not exist; correct or remove"
    with pytest.raises(MissingInputError) as caught:
        read(["link.txt"], CorpusOptions())
    assert_one_line(caught, line)
    with pytest.raises(MissingInputError) as caught, opened(Path("link.txt"), "a file"):
        pass
    assert_one_line(caught, line)


def test_an_unreadable_directory_is_named(tree: Path, monkeypatch: pytest.MonkeyPatch):
    inner = os.scandir

    def forbidden(path: str) -> Any:
        if Path(path) == Path("sub"):
            raise PermissionError(13, "x")
        return inner(path)

    monkeypatch.setattr(os, "scandir", forbidden)  # a test that is root may read all
    for name in (".", "**/*.txt", "*/*.txt", "s*"):
        with pytest.raises(MissingInputError) as caught:
            expand([name])
        assert_one_line(caught, "sub: cannot be read: permission denied")
    assert expand(["*.txt"]) == ["a.txt", "b.txt"]


def test_a_named_pipe_is_read_once(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"a b\na",))
    writer.start()
    assert read(expand([str(pipe)]), ALL).vocabulary == {"a": 2, "b": 1}
    writer.join()


# ── Formats ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.txt", "text"),
        ("-", "text"),
        ("a.gz", "text"),
        ("tsv", "text"),
        ("a.jsonl", "jsonl"),
        ("a.NDJSON.gz", "jsonl"),
        ("a.tsv.zst", "tsv"),
        ("a.CSV.gz", "csv"),
        ("a.conllu.xz", "conllu"),
        ("a.fa.bz2", "fasta"),
        ("a.fna", "fasta"),
    ],
)
def test_the_suffix_decides_unless_a_format_is_given(name: str, form: str):
    assert formats.format_of(name, ALL) == form
    assert formats.format_of(name, CorpusOptions(input_format="tsv")) == "tsv"


@pytest.mark.parametrize(
    ("names", "given", "decided"),
    [
        (["a.txt"], {}, ("words", "text", None)),
        ([], {}, ("words", "auto", None)),
        (["a.txt"], {"tokeniser": "kmer", "k": 5}, ("kmer", "text", None)),
        (["a.jsonl"], {}, ("words", "jsonl", "text")),
        (["a.txt", "b.jsonl"], {"text_field": "x"}, ("words", "auto", "x")),
        (["a.conllu"], {}, ("whitespace", "conllu", None)),
        (["a.conllu", "a.txt"], {"tokeniser": "words"}, ("words", "auto", None)),
        (["a.fa", "b.faa"], {"id_field": "header"}, ("kmer", "fasta", None)),
        (["a.fa", "b.txt"], {"tokeniser": "kmer"}, ("kmer", "auto", None)),
        (["a.tsv"], {"text_field": "2", "id_field": "1"}, ("words", "tsv", "2")),
        (["a.csv"], {"text_field": "text"}, ("words", "csv", "text")),
        (["a.x"], {"input_format": "jsonl"}, ("words", "jsonl", "text")),
    ],
)
def test_auto_is_resolved_once_by_the_files(
    names: list[str], given: dict[str, object], decided: tuple[str, str, str | None]
):
    made = formats.resolve(names, CorpusOptions(**given))  # type: ignore[arg-type]
    assert (made.tokeniser, made.input_format, made.text_field) == decided
    assert formats.resolve(names, made) == made


@pytest.mark.parametrize(
    ("names", "given", "parts"),
    [
        (["a.txt", "b.fa"], {}, ["need different tokenisers: fasta (b.fa), text (a.txt)"]),
        (
            ["b.fa"],
            {"tokeniser": "words"},
            ["b.fa: --tokeniser words does not support fasta", "pass --tokeniser kmer"],
        ),
        (
            ["a.conllu"],
            {"tokeniser": "kmer"},
            ["does not support conllu; pass --tokeniser whitespace or "],
        ),
        (
            ["a.txt"],
            {"text_field": "x"},
            ["--text-field applies to jsonl, tsv, csv and parquet, not to text"],
        ),
        (["a.jsonl", "a.txt"], {"id_field": "x"}, ["a.txt: --id-field applies to", "leave the"]),
        (
            ["a.fa"],
            {"time_field": "x"},
            ["--time-field applies to jsonl, tsv, csv and parquet, not to fasta"],
        ),
        (["a.jsonl"], {"column": "lemma"}, ["--column applies to conllu, not to jsonl"]),
        (["a.jsonl"], {"document": "file"}, ["each jsonl record is a document, whatever --doc"]),
        (["a"], {"tokeniser": "kmer", "document": "block"}, ["each list of k-mers is a document"]),
        (["a.txt"], {"k": 4}, ["--k needs --tokeniser kmer, not words"]),
        (["a.fa"], {"id_field": "x"}, ["FASTA has no field 'x', only headers; --id-field h"]),
        (["a.tsv"], {"delimiter": "pipe"}, ["--delimiter applies to csv, not to tsv"]),
        (
            ["a.txt"],
            {"bad_records": "skip"},
            ["--bad-records applies to jsonl, tsv, csv and parquet, not to text"],
        ),
        (["a.csv"], {"text_field": "2", "id_field": "x"}, ["by number and by name (2, x)"]),
        (["a.tsv"], {"text_field": "0"}, ["there is no column 0; columns"]),
        (["a.tsv"], {"text_field": "9" * 5000}, ["columns are numbered from 1"]),
        (["a.tsv"], {"text_field": "2", "id_field": "x"}, ["by number and by name (2, x)"]),
    ],
)
def test_options_that_contradict_the_files_are_rejected(
    names: list[str], given: dict[str, object], parts: list[str]
):
    with pytest.raises(OptionError) as caught:
        formats.resolve(names, CorpusOptions(**given))  # type: ignore[arg-type]
    assert_one_line(caught, *parts)


def test_mixed_formats_are_one_corpus(tmp_path: Path):
    contents = {"a.txt": "a b\nc", "b.jsonl": '{"t": "a\\nc"}', "c.tsv": "t\tu\nb\tc\n"}
    names = []
    for name, content in contents.items():
        names.append(tmp_path / name)
        names[-1].write_text(content, encoding="utf-8")
    asked = CorpusOptions(min_count=1, text_field="t")
    made = read(names, formats.resolve([str(name) for name in names], asked))
    assert made.stream == ["a", "b", None, None, "c", None, None, "a", "c", None, None, "b"]


# ── Text ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", [KOREAN, RUSSIAN])
def test_words_of_other_scripts_are_words(tmp_path: Path, text: str):
    (path,) = put(tmp_path, text)
    assert read([path], ALL).vocabulary == Counter(reference_tokens(text, "words"))


def sentence(draw: random.Random) -> str:
    words = ["".join(draw.choices("abcdefgh", k=draw.randint(1, 9))) for _ in range(12)]
    return " ".join(words[: draw.randint(3, 12)]).capitalize() + draw.choice(".?!")


def paragraphs(draw: random.Random) -> list[str]:
    return [" ".join(sentence(draw) for _ in range(draw.randint(3, 9))) for _ in range(60)]


@settings(max_examples=15)
@given(st.integers(0, 999), st.integers(50, 120))
def test_hard_wrapping_is_detected_with_its_width(seed: int, width: int):
    wrapped = [textwrap.fill(text, width) for text in paragraphs(random.Random(seed))]
    found = hard_wrapping("\n\n".join(wrapped).encode())
    assert found["share"] > 0.6
    assert width - 8 <= found["width"] <= width
    assert (
        f"at about {found['width']} characters" in input_warnings([Source("x", wrapped=found)])[0]
    )


@pytest.mark.parametrize(
    "form",
    [
        lambda draw: "\n".join(paragraphs(draw)),
        lambda draw: "\n".join(sentence(draw) for _ in range(500)),
        lambda draw: "\n".join(sentence(draw).rstrip(".?!").lower() for _ in range(500)),
        lambda draw: " ".join(sentence(draw) for _ in range(5000)),
        lambda draw: "\n".join(sentence(draw).split()[0] for _ in range(900)),
        lambda draw: "\n".join(textwrap.wrap(paragraphs(draw)[0], 70)),
    ],
    ids=["a paragraph a line", "sentences", "bare sentences", "one line", "words", "few lines"],
)
def test_other_lines_are_not_detected_as_wrapped(
    form: Callable[[random.Random], str],
):
    assert hard_wrapping(form(random.Random(1)).encode()) == {}


def test_hard_wrapping_matters_only_if_lines_are_documents(tmp_path: Path):
    text = "\n\n".join(textwrap.fill(p, 70) for p in paragraphs(random.Random(2)))
    (path,) = put(tmp_path, text)
    for document, noted in (("line", True), ("block", False)):
        source = Source(str(path))
        for _ in formats.blocks(source, b" \n", CorpusOptions(document=document)):
            pass
        assert bool(source.wrapped) == noted


def test_warnings_sum_over_all_files():
    wrapped = {"share": 0.9, "width": 72}
    one = Source("a", counts={"gaps in sequences": 1_200, "x": 1}, wrapped=wrapped)
    two = Source("b", counts={"x": 2}, wrapped=wrapped)
    first, second = input_warnings([Source("c"), one, two])
    assert first == "skipped: gaps in sequences: 1,200, x: 3"
    assert second.startswith("a looks hard-wrapped: 90% of its first lines end in mid-sentence ")
    assert second.endswith("pass --document block (also 1 other file)")
    assert input_warnings([Source("c")]) == []


def test_messages_about_records_give_their_location(tmp_path: Path):
    path = tmp_path / "a.tsv"
    path.write_text("1\ta\n2\t" + 5000 * "x" + "\n", encoding="utf-8")
    asked = formats.resolve([str(path)], CorpusOptions(text_field="2"))
    with pytest.raises(InputError) as caught:
        read([path], asked)
    assert_one_line(caught, path, "has 5,000 bytes without")
