"""Counts by document: those of the definition, of any input; built, refused and gone on with."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from corpora import (
    assert_one_line,
    build,
    build_documents,
    corpus_options,
    corpus_texts,
    held,
    put,
    reference_rows,
    reference_stream,
    reference_vocabulary,
    small,
)
from hypothesis import given, settings
from hypothesis import strategies as st

import wordgeom as wg
from wordgeom.checkpoint import corpus_writer
from wordgeom.cli import main
from wordgeom.core.errors import (
    FormatError,
    InputError,
    MissingInputError,
    OutputExistsError,
    WordgeomError,
)
from wordgeom.corpus.encoding import memory_limits
from wordgeom.corpus.encoding.block_feed import BlockFeed
from wordgeom.corpus.encoding.encode import EncodedCorpus, encode_documents
from wordgeom.corpus.options import CorpusOptions
from wordgeom.counts import documents as counting
from wordgeom.linalg.device import get_ops
from wordgeom.matrices.cooccurrence import MatrixWriter
from wordgeom.matrices.document_term import Document, StoredDocuments
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool
from wordgeom.stages import build_dtm
from wordgeom.storage.store import Store, StoreWriter

AGAIN = 75  # the exit status of what can be gone on with
TEXT = "the cat sat on the mat\nthe dog and the cat\n\n...\na dog sat\n" * 5


def count(
    paths: list[Path], options: CorpusOptions, pool: Pool
) -> tuple[EncodedCorpus, list[dict[str, int]]]:
    """What is made of files without a store: the text, and the words of each row."""
    encoded = encode_documents(
        [str(path) for path in paths],
        options,
        Context(pool, partial(get_ops, "cpu", pool), 1 << 30),
    )
    words, rows = encoded.vocabulary.words, []
    with closing(encoded.stream):
        counts = counting.DocumentCounts(encoded.stream, len(words), pool)
        for lengths, indices, values in counts.rows():
            pairs = zip([words[j] for j in indices.tolist()], values.tolist(), strict=True)
            rows += [dict(islice(pairs, n)) for n in lengths.tolist()]
    return encoded, rows


@given(
    st.lists(corpus_texts, min_size=1, max_size=3),
    corpus_options(),
    st.integers(1, 3),
    st.sampled_from([(8, 1, 4), (30, 3, 7), (1 << 21, 1 << 20, 1 << 22)]),
)
@settings(max_examples=80)
def test_counts_and_places_are_those_of_the_definition(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    options: CorpusOptions,
    threads: int,
    sizes: tuple[int, int, int],
):
    folder = tmp_path_factory.mktemp("any")
    rows = reference_rows(texts, options.tokeniser, options.document)
    spoken = [tokens for _, _, tokens in rows if tokens]
    vocabulary = reference_vocabulary(spoken, options.min_count, options.max_vocab)
    streams = iter(reference_stream(spoken, vocabulary, options, 1))
    with small(*sizes), Pool(threads) as pool:
        if not vocabulary:
            with pytest.raises(InputError):
                count(put(folder, *texts), options, pool)
            return
        encoded, found = count(put(folder, *texts), options, pool)
    counted = [Counter(t for t in next(streams) if t) if tokens else {} for *_, tokens in rows]
    assert found == counted
    places = [(file, d.line) for file, s in enumerate(encoded.sources, 1) for d in s.documents]
    assert places == [row[:2] for row in rows]
    assert encoded.vocabulary.words == list(vocabulary)
    assert (encoded.tokens, encoded.documents) == (sum(map(len, spoken)), len(spoken))
    assert encoded.kept == sum(sum(row.values()) for row in found)


# ── Records ──────────────────────────────────────────────────────────────────────────────────

RECORDS = [  # the text (None: a blank line), the id, the time
    ("the cat sat", "k1", "1950"), (None, "", ""), ("", "k2", "1951"),
    ("dog! the dog", "k3", "1949"), ("…", "k4", "1950-07"), (None, "", ""), ("a cat", "k5", "-44"),
]  # fmt: skip
WORDS = [{"the": 1, "cat": 1, "sat": 1}, {}, {"dog": 2, "the": 1}, {}, {"a": 1, "cat": 1}]


def jsonl() -> str:
    rows = ("" if t is None else json.dumps({"text": t, "id": i, "t": y}) for t, i, y in RECORDS)
    return "\n".join(rows)


def tsv() -> str:
    return "\n".join("" if t is None else f"{i}\t{y}\t{t}" for t, i, y in RECORDS)


BY_NUMBER = {"text_field": "3", "id_field": "1", "time_field": "2"}
BY_NAME = {"text_field": "w", "id_field": "i", "time_field": "y"}
CASES: list[tuple[str, Callable[[], str], dict[str, str], int]] = [
    ("t.jsonl", jsonl, {"id_field": "id", "time_field": "t"}, 0),
    ("t.tsv", tsv, BY_NUMBER, 0),
    ("t.tsv", lambda: "i\ty\tw\n" + tsv(), BY_NAME, 1),
]


@pytest.mark.parametrize("block", [5, 40, 1 << 21])
@pytest.mark.parametrize(("name", "content", "fields", "header"), CASES)
def test_a_record_is_a_row_whether_it_holds_a_word_or_not(
    tmp_path: Path,
    name: str,
    content: Callable[[], str],
    fields: dict[str, str],
    header: int,
    block: int,
):
    path, twin = tmp_path / name, tmp_path / "empty" / name
    path.write_text(content(), encoding="utf-8")
    twin.parent.mkdir()
    twin.write_text(content(), encoding="utf-8")
    with small(block, 2, 3):
        build_documents([path, twin], tmp_path / "dtm", **fields)
        build_documents(path, tmp_path / "plain", text_field=fields.get("text_field"))
    documents, rows = held(tmp_path / "dtm")
    there = [(k, i, y) for k, (t, i, y) in enumerate(RECORDS, 1 + header) if t is not None]
    assert documents == [Document(file, *one) for file in (1, 2) for one in there]
    assert rows == WORDS * 2
    documents, rows = held(tmp_path / "plain")
    assert documents == [Document(1, line, "", "") for line, _, _ in there]
    assert rows == WORDS


@pytest.mark.parametrize("block", [4, 1 << 21])
def test_a_sequence_and_a_sentence_are_rows(tmp_path: Path, block: int):
    fasta = tmp_path / "p.fasta"
    fasta.write_text("; c\n>one x\nADTI\nVAV\n>two\n\n>three\nAD\n>four\nvavv*\n")
    row = "1\t{0}\t{0}\t_\t_\t_\t_\t_\t_\t_\n"
    tree = tmp_path / "t.conllu"
    words = [row.format("a") + row.format("B"), "# only a comment\n", "", row.format("…")]
    tree.write_text("\n".join(words) + "\n" + row.format("c"))
    with small(block, 3, 3):
        build_documents(fasta, tmp_path / "p", id_field="header", k=3)
        build_documents(tree, tmp_path / "t", tokeniser="words")
    documents, rows = held(tmp_path / "p")
    assert [d[1:3] for d in documents] == [(2, "one"), (5, "two"), (7, "three"), (9, "four")]
    lists = ["ADT IVA DTI VAV TIV", "", "", "VAV AVV VV*"]
    assert rows == [Counter(text.split()) for text in lists]
    documents, rows = held(tmp_path / "t")
    assert [d.line for d in documents] == [1, 7, 9]
    assert rows == [{"a": 1, "b": 1}, {}, {"c": 1}]


def test_lines_of_letters_are_rows_of_k_mers_with_the_lines_that_they_have(tmp_path: Path):
    path = put(tmp_path, "ABCD\n\nA\nBCDA\n")[0]
    with small(3, 2, 2):
        build_documents(path, tmp_path / "dtm", tokeniser="kmer", k=2)
    documents, rows = held(tmp_path / "dtm")
    assert [d.line for d in documents] == [1, 4]
    assert rows == [Counter(["AB", "CD", "BC"]), Counter(["BC", "DA", "CD"])]


def test_files_of_several_forms_stand_below_each_other(tmp_path: Path):
    text, lines = put(tmp_path, "the cat\n\n\nthe dog\n", "")
    records = tmp_path / "r.jsonl"
    records.write_text('\n{"text": ""}\n{"text": "cat"}\n')
    build_documents([text, lines, records, lines.with_name("0.txt")], tmp_path / "dtm")
    documents, rows = held(tmp_path / "dtm")
    assert [d[:2] for d in documents] == [(1, 1), (1, 4), (3, 2), (3, 3)]
    assert rows == [{"the": 1, "cat": 1}, {"the": 1, "dog": 1}, {}, {"cat": 1}]


@pytest.mark.parametrize(
    ("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_packed_files_and_standard_input_are_read_as_plain_ones(
    tmp_path: Path, suffix: str, pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
):
    path, packed = tmp_path / "t.txt", tmp_path / f"t.txt.{suffix}"
    path.write_text(TEXT)
    packed.write_bytes(pack(TEXT.encode()))
    plain = build_documents(path, tmp_path / "plain").store.digest
    assert build_documents(packed, tmp_path / "packed").store.digest == plain
    pipe = io.TextIOWrapper(io.BufferedReader(io.BytesIO(TEXT.encode())))
    monkeypatch.setattr(sys, "stdin", pipe)
    assert build_documents(Path("-"), tmp_path / "piped").store.digest == plain


def test_phrases_do_not_reach_across_documents(tmp_path: Path):
    path = put(tmp_path, "new york\n" * 9 + "new\nyork\n" + "big york\n")[0]
    build_documents(path, tmp_path / "dtm", phrases=1, phrase_threshold=-3.0)
    rows = held(tmp_path / "dtm")[1]
    assert rows == [{"new_york": 1}] * 9 + [{"new": 1}, {"york": 1}, {"big": 1, "york": 1}]


# ── The store ────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def text(tmp_path: Path) -> Path:
    return put(tmp_path, TEXT)[0]


def test_threads_memory_and_blocks_leave_the_digest_alone(tmp_path: Path):
    rng = np.random.default_rng(3)
    lines = [" ".join(f"w{k}" for k in rng.zipf(1.3, rng.integers(0, 60))) for _ in range(3000)]
    path = put(tmp_path, "\n".join([*lines, " ".join(lines)]))[0]  # one is longer than a block
    digests = set()
    for k, (threads, memory, share, sizes) in enumerate(
        [
            (1, 0.3, 4, (1 << 21, 1 << 20)),
            (2, 0.3, 1 << 20, (5000, 1 << 10)),
            (3, 4.0, 4, (1 << 14, 77)),
        ]
    ):
        # the ids in a file, or not
        with small(*sizes), patch.object(memory_limits, "_IDS_SHARE", share):
            out = tmp_path / f"dtm{k}"
            made = build_documents(path, out, threads=threads, memory=memory, min_count=2)
            digests.add(made.store.digest)
    assert len(digests) == 1


def test_the_same_request_is_up_to_date_and_another_is_refused(text: Path, tmp_path: Path):
    out = tmp_path / "dtm"
    first = build_documents(text, out)
    before = {p.name: p.read_bytes() for p in out.iterdir()}
    for options in ({}, {"threads": 1, "memory": 0.5}, {"oov": "drop"}):  # oov is of windows
        assert build_documents(text, out, **options).summary == f"{out}: up to date"
    other = tmp_path / "other.txt"
    other.write_text(TEXT + "more")
    for name, changed, found in (
        (text, {"document": "file"}, "made with --document line, not file"),
        (text, {"min_count": 2}, "made with --min-count 1, not 2"),
        (other, {}, "made from other text"),
    ):
        with pytest.raises(OutputExistsError) as caught:
            build_documents(name, out, **changed)
        assert_one_line(caught, out, found, "pass --force")
    with pytest.raises(OutputExistsError) as caught:
        build(text, out)
    assert_one_line(caught, "is a dtm store")
    assert {p.name: p.read_bytes() for p in out.iterdir()} == before
    assert build_documents(other, out, force=True).store.digest != first.store.digest


def test_documents_without_a_word_are_told(text: Path, tmp_path: Path):
    def told(**options: Any) -> list[str]:
        made = build_documents(text, tmp_path / "dtm", force=True, **options)
        return [line for line in made.notes if "row" in line]

    assert told() == []
    assert told(max_vocab=1) == [
        "5 of 15 documents contain no word of the vocabulary; their rows are empty"
    ]


def test_the_vocabulary_is_saved_with_the_counts(text: Path, tmp_path: Path):
    words = tmp_path / "words.tsv"
    made = build_documents(text, tmp_path / "dtm", save_vocab=str(words))
    assert words.read_bytes() == made.store.text("vocab")
    again = build_documents(text, tmp_path / "again", read_vocab=str(words), save_vocab=None)
    assert held(again.store.path) == held(made.store.path)


def test_a_matrix_that_does_not_fit_is_refused_before_it_is_written(text: Path, tmp_path: Path):
    with patch.object(build_dtm, "_ROW_BYTES", 1 << 40), pytest.raises(InputError) as caught:
        build_documents(text, tmp_path / "dtm")
    assert_one_line(caught, "words in 15 documents need", "GB; raise --memory")
    assert not (tmp_path / "dtm").exists()


@pytest.mark.parametrize(
    ("part", "change", "said"),
    [
        ("documents", lambda lines: lines[:-1], "14 lines for 15 rows"),
        ("documents", lambda lines: [*lines[:-1], "1\tx\t\t"], "documents.tsv line 15: expected a"),
        ("documents", lambda lines: [*lines[:-1], "1\t2\t"], "expected a document, found 1\t2"),
        ("vocab", lambda lines: lines[:-1], "inconsistent"),
    ],
)
def test_a_store_whose_parts_do_not_fit_is_refused(
    text: Path, tmp_path: Path, part: str, change: Callable[[list[str]], list[str]], said: str
):
    made = build_documents(text, tmp_path / "dtm").store
    with StoreWriter(tmp_path / "edited", "dtm") as writer:
        for name, entry in made.parts().items():
            if not entry["file"].endswith(".tsv"):
                writer.array(name, entry["dtype"]).write(made.array(name).read())
                continue
            lines = made.text(name).decode().splitlines()
            lines = change(lines) if name == part else lines
            writer.text(name, "".join(f"{line}\n" for line in lines).encode())
        writer.commit(made.attributes, made.card)
    with pytest.raises(FormatError) as caught:
        StoredDocuments.open(tmp_path / "edited").documents()
    assert_one_line(caught, said)


def test_one_kind_of_matrix_is_not_taken_for_another(text: Path, tmp_path: Path):
    build(text, tmp_path / "cooc")
    with pytest.raises(MissingInputError) as caught:
        StoredDocuments.open(tmp_path / "cooc")
    assert_one_line(caught, "is a co-occurrence matrix, not a document-term matrix; create one")
    build_documents(text, tmp_path / "dtm")
    for function in (wg.pmi, lambda path: wg.train(path, "gbu")):
        with pytest.raises(WordgeomError) as refused:
            function(tmp_path / "dtm")
        assert_one_line(refused, tmp_path / "dtm", "dtm")


# ── Going on ─────────────────────────────────────────────────────────────────────────────────


def run(*args: object) -> int:
    return main([*map(str, args), "--quiet"])


@contextmanager
def stopped(owner: Any, name: str, at: int) -> Iterator[None]:
    """Ctrl-C at the call `at` of a function."""
    whole, calls = getattr(owner, name), [0]

    def interrupted(*given: Any) -> Any:
        calls[0] += 1
        if calls[0] == at:
            os.kill(os.getpid(), signal.SIGINT)
        return whole(*given)

    with patch.object(owner, name, interrupted):
        yield


@pytest.mark.parametrize(("owner", "name"), [(BlockFeed, "take"), (MatrixWriter, "write")])
def test_a_stopped_run_goes_on_to_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
):
    monkeypatch.chdir(tmp_path)
    Path("t.txt").write_text(TEXT * 20)
    Path("r.jsonl").write_text('\n\n{"text": "the mat"}\n{"text": ""}\n' * 40)
    command = ["build-dtm", "t.txt", "r.jsonl", "--document", "line", "--min-count", "1"]
    monkeypatch.setattr(corpus_writer, "WORTH", 0)
    with small(512, 100):
        assert run(*command, "-o", "whole") == 0
        with stopped(owner, name, 4):
            assert run(*command, "--checkpoint", 0) == AGAIN
        assert not Path("dtm").exists()
        assert run(*command) == 1  # what was kept is not lost to a forgotten option
        if name == "write":
            monkeypatch.setattr(build_dtm, "encode_documents", None)  # the text is not read again
        assert run(*command, "--resume") == 0
    assert Store.open("dtm").digest == Store.open("whole").digest
    assert {p.name for p in Path().iterdir()} == {"t.txt", "r.jsonl", "whole", "dtm"}


def put_table(name: str, texts: list[str]) -> None:
    """Write texts with ids and times as CSV or Parquet."""
    columns = {"id": list(range(len(texts))), "y": [1990] * len(texts), "text": texts}
    if name.endswith(".parquet"):
        pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is optional")
        parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is optional")
        parquet.write_table(pyarrow.table(columns), name, row_group_size=700)
        return
    with open(name, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_stopped_count_of_a_table_goes_on_unless_the_table_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
):
    monkeypatch.chdir(tmp_path)
    texts = [f'the "cat", w{k % 40}\nsat on w{k % 7}' for k in range(2000)]
    put_table(name, texts)
    command = ["build-dtm", name, "--text-field", "text", "--id-field", "id", "--time-field", "y"]
    monkeypatch.setattr(corpus_writer, "WORTH", 0)
    with small(512, 100):
        assert run(*command, "-o", "whole") == 0
        with stopped(BlockFeed, "take", 9):
            assert run(*command, "--checkpoint", 0) == AGAIN
        assert [*Path(".dtm.state").glob("text-*/meta.json")]
        shutil.copytree(".dtm.state", "state")
        assert run(*command, "--resume") == 0
        assert Store.open("dtm").digest == Store.open("whole").digest
        shutil.rmtree("dtm")
        shutil.move("state", ".dtm.state")
        put_table(name, ["other", *texts[1:]])
        assert run(*command, "--resume") == 1
    assert "changed" in capsys.readouterr().err


def test_a_state_with_other_rows_than_documents_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("t.txt").write_text(TEXT)
    with small(512, 100), stopped(MatrixWriter, "write", 1):
        assert run("build-dtm", "t.txt", "--checkpoint", 0) == AGAIN
    state = Path(".dtm.state/ids")
    piece = Store.open(state)
    whole = piece.array("ids").read()
    words, documents = piece.text("vocab"), piece.text("documents")
    ends = whole == len(words.splitlines())
    for place, other, found in ((ends, 0, "14 documents instead"), (~ends, whole.max(), "16")):
        ids = whole.copy()
        ids[np.flatnonzero(place[2048:-2048])[3] + 2048] = other
        with StoreWriter(state, "state") as writer:
            writer.array("ids", np.int32).write(ids)
            writer.text("vocab", words)
            writer.text("documents", documents)
            writer.commit(piece.attributes, {})
        assert run("build-dtm", "t.txt", "--resume") == 1
        assert found in capsys.readouterr().err


# ── Around it ────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("content", "flags", "said"),
    [
        ('{"text": "a", "i": 1}\n{"text": "b"}\n', ["--id-field", "i"], "line 2: has no 'i'"),
        ('{"text": "a"}\nnot\n', [], "line 2: is not JSON"),
        ("", [], "contains no words"),
        ('{"txt": "a"}\n', ["--bad-records", "skip"], "skipped 1 malformed record; the first: "),
    ],
)
def test_a_bad_record_is_told_by_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, flags: list[str], said: str
):
    path = tmp_path / "r.jsonl"
    path.write_text(content)
    assert run("build-dtm", path, "-o", tmp_path / "dtm", "--min-count", 1, *flags) == 1
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert f"{path}" in told
    assert said in told
    assert not (tmp_path / "dtm").exists()


@pytest.mark.parametrize("command", ["build-dtm", "build-cooc"])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("r.jsonl", '{"text": "a b", "y": 1}\n{"text": "b a", "y": null}\n{"text": "a b"}\n'
         '{"text": "b a", "y": "c. 1950"}\n'),
        ("r.tsv", "text\ty\na b\t1\nb a\t\na b\t \nb a\tc. 1950\n"),
        ("r.csv", 'text,y\na b,1\nb a,\na b,""\nb a,c. 1950\n'),
    ],
)  # fmt: skip
def test_missing_null_and_unreadable_times_are_counted_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, name: str, content: str
):
    path = tmp_path / name
    path.write_text(content)
    fields = ["--text-field", "text", "--time-field", "y", "--min-count", "1"]
    assert main([command, str(path), "-o", str(tmp_path / "out"), *fields]) == 0
    said = "3 documents have no readable time (2 missing, 1 of unknown format); the first: "
    assert f"{said}{path} line {2 + (name != 'r.jsonl')}: the doc" in capsys.readouterr().err


def test_the_command_its_configuration_and_the_function_make_the_same(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    assert main(["build-dtm", str(text), "--min-count", "2", "--document", "block"]) == 0
    assert "dtm: 6 documents × 8 words, 42 entries from 70 tokens" in capsys.readouterr().out
    Path("c.toml").write_text(
        f'[build-dtm]\ncorpus = "{text.name}"\nout = "b"\nmin-count = 2\ndocument = "block"\n'
    )
    assert run("run", "c.toml") == 0
    with wg.count_documents(text, min_count=2, document="block") as counts:
        digests = {Store.open(name).digest for name in ("dtm", "b")} | {counts.digest}
        assert len(digests) == 1
        assert len(counts.documents()) == counts.to_scipy().shape[0] == 6
    assert isinstance(wg.open_matrix("dtm"), wg.DocumentCounts)
    assert main(["info", "dtm", "--check"]) == 0
    told = capsys.readouterr().out
    assert "documents      6\n" in told
    assert main(["build-dtm"]) == 2
    assert main(["build-dtm", "x", "--window", "3"]) == 2
    assert "build-dtm has no option --window" in capsys.readouterr().err


def test_exported_counts_are_those_that_are_stored(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    stored = StoredDocuments.open(build_documents(text, Path("dtm")).store.path)
    whole = stored.to_scipy().toarray()
    assert run("convert", "dtm", "d.npz") == 0
    assert run("convert", "dtm", "d.mtx") == 0
    for back in (scipy.sparse.load_npz("d.npz"), scipy.io.mmread("d.mtx")):
        assert np.array_equal(back.toarray(), whole)
    assert Path("d.documents.tsv").read_bytes() == stored.store.text("documents")
    assert Path("d.words.txt").read_text().split("\n")[0] == f"the\t{whole[:, 0].sum()}"
    assert run("convert", "dtm", "d.glove") == 2
    Path("e.documents.tsv").write_text("mine")
    assert run("convert", "dtm", "e.npz") == 1
    assert Path("e.documents.tsv").read_text() == "mine"
