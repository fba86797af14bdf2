"""Passages: documents cut as plain Python cuts them, in any format, and the messages about them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import numpy as np
import pytest
from corpora import (
    assert_one_line,
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
from wordgeom.core.errors import InputError, OptionError, OutputExistsError
from wordgeom.corpus.encoding import memory_limits, passages
from wordgeom.corpus.encoding.block_feed import BlockFeed
from wordgeom.corpus.options import CorpusOptions
from wordgeom.matrices.cooccurrence import MatrixWriter
from wordgeom.matrices.document_term import Document, StoredDocuments, source_documents
from wordgeom.storage.store import Store, StoreWriter
from wordgeom.vectors.keyed import read_vectors

T = TypeVar("T")
AGAIN = 75  # the exit status of what can be resumed


def cut(tokens: list[T], size: int) -> list[list[T]]:
    """The passages of a document by the definition."""
    parts = [tokens[at : at + size] for at in range(0, len(tokens), size)] or [[]]
    if len(parts) > 1 and 2 * len(parts[-1]) < size:
        *parts, rest = parts
        parts[-1] = parts[-1] + rest
    return parts


def test_a_rest_joins_the_passage_before_it_unless_it_is_half_of_one():
    lengths = {n: [len(part) for part in cut([0] * n, 10)] for n in (0, 3, 14, 15, 24, 25, 30)}
    assert lengths == {
        0: [0], 3: [3], 14: [14], 15: [10, 5], 24: [10, 14], 25: [10, 10, 5], 30: [10, 10, 10],
    }  # fmt: skip


@given(
    st.lists(corpus_texts, min_size=1, max_size=3),
    corpus_options(),
    st.sampled_from([1, 1, 2, 3, 4, 5, 7, 1000]),
    st.integers(1, 3),
    st.sampled_from([(8, 1, 4), (8, 3, 1), (30, 3, 7), (1 << 21, 1 << 20, 1 << 22)]),
)
@settings(max_examples=50)
def test_rows_are_the_passages_of_the_definition(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[str],
    options: CorpusOptions,
    size: int,
    threads: int,
    sizes: tuple[int, int, int],
):
    folder = tmp_path_factory.mktemp("any")
    documents = reference_rows(texts, options.tokeniser, options.document)
    spoken = [tokens for *_, tokens in documents if tokens]
    vocabulary = reference_vocabulary(spoken, options.min_count, options.max_vocab)
    values = options.result_options()
    if not vocabulary:
        return
    keep = CorpusOptions(**{**values, "oov": "keep"})  # None for each token without a column
    streams = iter(reference_stream(spoken, vocabulary, keep, 1))
    split = [
        ((file, line), cut(next(streams) if tokens else [], size))
        for file, line, tokens in documents
    ]
    with small(*sizes):
        done = build_documents(
            put(folder, *texts), folder / "dtm", **values, threads=threads, passages=size
        )
    found, rows = held(folder / "dtm")
    assert rows == [Counter(t for t in part if t) for _, parts in split for part in parts]
    assert [d[:2] for d in found] == [place for place, parts in split for _ in parts]
    numbers = [k for k, (_, parts) in enumerate(split) for _ in parts]
    assert source_documents(found).tolist() == numbers
    assert done.store.attributes["documents"] == len(spoken)
    assert done.store.attributes["tokens"] == sum(map(len, spoken))


@given(st.lists(st.integers(0, 25), min_size=1, max_size=30), st.integers(1, 12))
@settings(max_examples=40)
def test_any_lengths_are_cut_at_any_size(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], size: int
):
    texts = [[f"w{k}" for k in range(n)] for n in lengths]
    if not any(texts):
        return
    out = tmp_path_factory.mktemp("any") / "dtm"
    with wg.count_documents(texts, min_count=1, passages=size, out=out, threads=1) as counts:
        wanted = [len(cut(text, size)) for text in texts]
        assert np.bincount(counts.source_documents()).tolist() == wanted
        sums = counts.to_scipy().sum(axis=1).tolist()
    assert sums == [len(part) for text in texts for part in cut(text, size)]


# ── Formats ──────────────────────────────────────────────────────────────────────────────────

TEXTS = [
    "the cat sat on the mat", "", "the dog", "the dog", "…", "a dog sat on a\ncat and ran",
    "the\u2028cat sat, said: \"no\"", "x " * 23, "мир и мир и the cat",
]  # fmt: skip


def as_jsonl() -> str:
    return "".join(json.dumps({"text": t, "id": f"k\u2028{t[:3]}"}) + "\n\n" for t in TEXTS)


def as_tsv() -> str:
    return "id\ttext\r\n" + "".join(f"1\t{t}\r\n".replace("\n", " ", t.count("\n")) for t in TEXTS)


def as_csv(**how: Any) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, **how).writerows([["text", "id"], *([t, "7"] for t in TEXTS)])
    return out.getvalue()


def as_conllu() -> str:
    row = "{}\t{}\t{}\t_\t_\t_\t_\t_\t_\t_\n"
    sentences = ("".join(row.format(k, w, w) for k, w in enumerate(t.split(), 1)) for t in TEXTS)
    return "\n# sent\n".join(sentences)


FASTA = ">a\nADTIVAVET\nADT\n>b\n>c\nADTIVAVETADTIVA\n>a\nADTIVAVET\n"
LINES = "\n".join(TEXTS)
FORMATS: list[tuple[str, Callable[[], str], dict[str, Any]]] = [
    ("t.txt", lambda: LINES, {}),
    ("t.txt", lambda: "\ufeff" + LINES.replace("\n", "\r\n"), {}),
    ("t.txt", lambda: "\n\n".join(TEXTS), {"document": "block"}),
    ("t.txt", lambda: LINES, {"document": "file"}),
    ("t.txt", lambda: "ABCDEFGH\n\nABC\nABCDEFGH\n", {"tokeniser": "kmer", "k": 2}),
    ("t.txt", lambda: LINES.replace("cat", "<b\nc>cat</b>"), {"strip": "tags"}),
    ("t.txt", lambda: LINES, {"phrases": 1, "phrase_threshold": -3.0}),
    ("t.jsonl", as_jsonl, {"id_field": "id"}),
    ("t.tsv", as_tsv, {"text_field": "text"}),
    ("t.csv", as_csv, {"text_field": "text", "id_field": "id"}),
    (
        "t.csv",
        lambda: as_csv(delimiter=";", lineterminator="\r").replace("\n", " "),
        {"text_field": "text"},
    ),
    ("t.conllu", as_conllu, {}),
    ("t.conllu", as_conllu, {"tokeniser": "words"}),
    ("t.fasta", lambda: FASTA, {"k": 2}),
]


@pytest.mark.parametrize("block", [5, 1 << 21])
@pytest.mark.parametrize(("name", "content", "options"), FORMATS)
def test_file_and_line_identify_the_document_in_every_format(
    tmp_path: Path, name: str, content: Callable[[], str], options: dict[str, Any], block: int
):
    paths = [tmp_path / name, tmp_path / "twin" / name, tmp_path / f"packed{name}.gz"]
    paths[1].parent.mkdir()
    for path in paths:
        text = content().encode()
        path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    check_documents(tmp_path, paths, options, block)


@pytest.mark.parametrize("block", [5, 1 << 21])
def test_file_and_row_identify_the_document_in_parquet(tmp_path: Path, block: int):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is optional")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is optional")
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path in paths:
        parquet.write_table(pyarrow.table({"text": TEXTS * 20}), path, row_group_size=7)
    check_documents(tmp_path, paths, {}, block)


def check_documents(folder: Path, paths: list[Path], options: dict[str, Any], block: int) -> None:
    """Passages add up to the documents of the matrix without passages, one by one."""
    with small(block, 7, 5):
        build_documents(paths, folder / "whole", **options)
        build_documents(paths, folder / "split", **options, passages=2)
    documents, rows = held(folder / "whole")
    assert len({d[:2] for d in documents}) == len(documents) > 2
    assert source_documents(documents).tolist() == list(range(len(documents)))
    parts, split = held(folder / "split")
    sources = source_documents(parts).tolist()
    assert len(parts) > len(documents)
    assert list(dict.fromkeys(parts)) == documents
    sums = [Counter[str]() for _ in documents]
    for source, row, part in zip(sources, split, parts, strict=True):
        sums[source].update(row)
        assert part == documents[source]
    assert sums == rows
    assert max(sum(row.values()) for row in split) == 2


# ── The store ────────────────────────────────────────────────────────────────────────────────


def test_threads_memory_and_blocks_leave_the_digest_alone(tmp_path: Path):
    rng = np.random.default_rng(3)
    lines = [" ".join(f"w{k}" for k in rng.zipf(1.3, rng.integers(0, 60))) for _ in range(2000)]
    path = put(tmp_path, "\n".join([*lines, " ".join(lines)]))[0]  # one is longer than a block
    split = [" ".join(part) for line in [*lines, " ".join(lines)] if line
             for part in cut(line.split(), 25)]  # fmt: skip
    twin = tmp_path / "twin.txt"
    twin.write_text("\n".join(split))
    wanted = StoredDocuments.open(build_documents(twin, tmp_path / "twin").store.path)
    digests = set()
    for k, (threads, memory, share, sizes) in enumerate(
        [
            (1, 0.3, 4, (1 << 21, 1 << 20, 1 << 22)),
            (2, 0.3, 1 << 20, (5000, 1 << 10, 100)),
            (3, 4.0, 4, (1 << 14, 77, 7)),
        ]
    ):
        # the ids in a file, or not
        with small(*sizes), patch.object(memory_limits, "_IDS_SHARE", share):
            out = tmp_path / f"dtm{k}"
            made = build_documents(path, out, threads=threads, memory=memory, passages=25)
            digests.add(made.store.digest)
    assert len(digests) == 1
    found = StoredDocuments.open(out)
    for part in ("indptr", "indices", "data", "columnsums", "holders"):
        assert np.array_equal(found.store.array(part).read(), wanted.store.array(part).read())
    assert found.store.text("vocab") == wanted.store.text("vocab")


def run(*args: object) -> int:
    return main([*map(str, args), "--quiet"])


@pytest.mark.parametrize(("owner", "name"), [(BlockFeed, "take"), (MatrixWriter, "write")])
def test_a_stopped_run_goes_on_to_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    owner: Any, name: str,
):  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("t.txt").write_text("the cat sat on the mat and ran\n\nthe dog\n" * 100)
    monkeypatch.setattr(corpus_writer, "WORTH", 0)
    command = ["build-dtm", "t.txt", "--passages", "3"]
    whole, calls = getattr(owner, name), [0]

    def interrupted(*given: Any) -> Any:
        calls[0] += 1
        if calls[0] == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return whole(*given)

    with small(512, 100):
        assert run(*command, "-o", "whole") == 0
        with patch.object(owner, name, interrupted):
            assert run(*command, "--checkpoint", 0) == AGAIN
        assert run("build-dtm", "t.txt", "--passages", "4", "--resume") == 1
        assert "--passages 3, not 4" in capsys.readouterr().err
        assert run(*command, "--resume") == 0
    assert Store.open("dtm").digest == Store.open("whole").digest
    assert Store.open("dtm").text("documents") == b"1\t1\t\t\n" * 3 + b"1\t3\t\t\n" + b"".join(
        b"1\t%d\t\t\n" % line for k in range(1, 100) for line in (*[3 * k + 1] * 3, 3 * k + 3)
    )


def test_a_store_of_another_request_is_refused_and_an_older_one_is_up_to_date(tmp_path: Path):
    text, out = put(tmp_path, "the cat sat on the mat\nthe dog\n")[0], tmp_path / "dtm"
    made = build_documents(text, out).store
    assert "passages" not in made.attributes
    del made.card["request"]["options"]["passages"]  # as an older version wrote it
    parts = {name: made.array(name).read() for name, entry in made.parts().items()
             if not entry["file"].endswith(".tsv")}  # fmt: skip
    texts = {name: made.text(name) for name in ("documents", "vocab")}
    with StoreWriter(tmp_path / "old", "dtm") as writer:
        for name, array in parts.items():
            writer.array(name, array.dtype).write(array)
        for name, content in texts.items():
            writer.text(name, content)
        writer.commit(made.attributes, made.card)
    old = tmp_path / "old"
    assert Store.open(old).digest == made.digest
    assert build_documents(text, old).summary == f"{old}: up to date"
    with wg.open_matrix(old) as counts:
        assert isinstance(counts, wg.DocumentCounts)
        assert counts.source_documents().tolist() == [0, 1]
    for asked, before, said in (
        ({"passages": 3}, {}, "was made without --passages, not with --passages 3"),
        ({}, {"passages": 3}, "was made with --passages 3, not without"),
        ({"passages": 2}, {"passages": 3}, "was made with --passages 3, not 2"),
    ):
        build_documents(text, out, force=True, **before)
        assert build_documents(text, out, **before).summary == f"{out}: up to date"
        with pytest.raises(OutputExistsError) as caught:
            build_documents(text, out, **asked)
        assert_one_line(caught, out, said, "pass --force")


def test_passages_that_do_not_fit_in_memory_are_refused_before_they_are_listed(tmp_path: Path):
    text = put(tmp_path, "the cat sat on the mat\n")[0]
    with patch.object(passages, "_COPIES", 1 << 40), pytest.raises(InputError) as caught:
        build_documents(text, tmp_path / "dtm", passages=1)
    assert_one_line(caught, "entries of 6 passages need", "raise --memory or --passages")
    assert not (tmp_path / "dtm").exists()


# ── Messages and readers ─────────────────────────────────────────────────────────────────────


def test_messages_count_documents_and_passages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    speeches = [
        {"id": "USA-1990", "year": 1990, "text": "rare peace is what we seek and peace we find"},
        {"id": "FRA-1990", "year": None, "text": "war and peace and war and peace and war"},
        {"id": "GBR-1991", "year": "c. 1991", "text": "peace and war"},
        {"id": "NIL-1991", "year": 1991, "text": ""},
    ]
    Path("s.jsonl").write_text("".join(json.dumps(s) + "\n" for s in speeches))
    command = ["build-dtm", "s.jsonl", "--id-field", "id", "--time-field", "year"]
    assert main([*command, "--min-count", "2", "--passages", "4"]) == 0
    said = capsys.readouterr()
    assert "dtm: 4 documents in 7 passages × 4 words, 14 entries from 22 tokens; " in said.out
    assert "2 documents have no readable time (1 missing, 1 of unknown format)" in said.err
    assert "1 of 7 passages contains no word of the vocabulary; its row is empty" in said.err
    documents, rows = held(Path("dtm"))
    assert documents[:3] == [Document(1, 1, "USA-1990", "1990")] * 3
    assert rows[:2] == [{"peace": 1}, {"we": 1, "and": 1, "peace": 1}]
    assert main(["info", "dtm", "--check"]) == 0
    facts = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()[:9])
    assert (facts["documents"], facts["passages"], facts["ids"]) == ("4", "7", "4 distinct")
    assert facts["times"] == "1990 to 1991, 2 distinct; 2 that cannot be read"
    with wg.open_matrix("dtm") as counts:
        assert repr(counts) == "<DocumentCounts of 7 passages × 4 words in dtm>"
    assert main(["convert", "dtm", "d.npz"]) == 0
    assert Path("d.documents.tsv").read_bytes().count(b"USA-1990") == 3


def test_the_command_its_configuration_and_the_function_make_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    put(tmp_path, "the cat sat on the mat\n\nthe dog\n")
    assert run("build-dtm", "0.txt", "--min-count", "1", "--passages", "2") == 0
    Path("c.toml").write_text(
        '[build-dtm]\ncorpus = "0.txt"\nout = "b"\nmin-count = 1\npassages = 2\n'
    )
    assert run("run", "c.toml") == 0
    with wg.count_documents("0.txt", min_count=1, passages=np.int64(2)) as counts:
        assert len({Store.open(name).digest for name in ("dtm", "b")} | {counts.digest}) == 1
        assert counts.source_documents().tolist() == [0, 0, 0, 1]
    for wrong in (0, -1, 10_000_001):
        with pytest.raises(OptionError, match="passages must be between 1 and 10000000"):
            wg.count_documents("0.txt", passages=wrong)
    with pytest.raises(OptionError, match="passages must be an integer"):
        wg.count_documents("0.txt", passages=2.5)
    assert run("build-cooc", "0.txt", "--passages", "2") == 2
    assert "build-cooc has no option --passages" in capsys.readouterr().err


def test_lsa_and_dlsa_take_a_passage_for_a_document(tmp_path: Path):
    rng = np.random.default_rng(5)
    speeches = [
        {"id": f"s{k}", "year": 1950 + k, "text": " ".join(f"w{w}" for w in rng.zipf(1.3, 60) % 40)}
        for k in range(12)
    ]
    cuts = [
        {**speech, "text": " ".join(part)}
        for speech in speeches
        for part in cut(str(speech["text"]).split(), 13)
    ]
    labels: dict[str, Any] = {"id_field": "id", "time_field": "year", "min_count": 1}
    split = wg.count_documents(texts=speeches, passages=13, out=tmp_path / "split", **labels)
    twin = wg.count_documents(texts=cuts, out=tmp_path / "twin", **labels)
    lsa = [
        wg.train(counts, "lsa", dim=5, out=tmp_path / f"{counts.path.name}.bin",
                 documents=tmp_path / f"{counts.path.name}.docs.bin")
        for counts in (split, twin)
    ]  # fmt: skip
    assert np.array_equal(lsa[0].vectors, lsa[1].vectors)
    documents = read_vectors(tmp_path / "split.docs.bin").words
    assert documents[:6] == ["s0", "s0#2", "s0#3", "s0#4", "s0#5", "s1"]
    models = [wg.train_model(c, dim=3, out=tmp_path / f"{c.path.name}-m") for c in (split, twin)]
    assert np.array_equal(models[0].coefficients, models[1].coefficients)
