"""`embed`: text vectors are the weighted means of word vectors, one row for each text."""

from __future__ import annotations

import io
import json
import sys
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfTransformer

import wordgeom as wg
from wordgeom.api.counts import count
from wordgeom.api.training import train
from wordgeom.core.errors import WordgeomError
from wordgeom.corpus.inputs import readers
from wordgeom.counts import documents
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.text_vectors import averages
from wordgeom.evaluation.word_lookup import Lookup
from wordgeom.linalg.device import open_context
from wordgeom.runtime.run_options import UseOptions
from wordgeom.texts import embedding
from wordgeom.vectors.keyed import Vectors, read_vectors, write_vectors

K = 6
WORDS = ["the", "film", "was", "good", "bad", "плохой", "фильм", "좋은", "영화", "café", "actor"]
REVIEWS = [
    "The film was good, the actor was good.",
    "",
    "Bad film!",
    "плохой фильм",
    "좋은 영화",
    "qwerty zxcvb",
    "unicode caf" + "e\u0301, THE FILM was good",
    "Bad film!",
    "...",
]
BAGS = [
    "the film was good the actor was good", "", "bad film", "плохой фильм", "좋은 영화", "",
    "café the film was good", "bad film", "",
]  # fmt: skip
TOKENS = [8, 0, 2, 2, 2, 2, 6, 2, 0]


@pytest.fixture
def vectors(tmp_path, monkeypatch) -> Vectors:
    """Vectors of the words in vectors.bin, and the reviews as lines, in the working directory."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(3)
    matrix = (draw.standard_normal((len(WORDS), K)) + 0.5).astype(np.float32)
    write_vectors("vectors.bin", WORDS, matrix)
    Path("reviews.txt").write_text("\n".join(REVIEWS) + "\n", encoding="utf-8")
    return read_vectors("vectors.bin")


def counts_of(bags) -> np.ndarray:
    """The number (texts × words) of each word in each text."""
    return np.array([[bag.split().count(word) for word in WORDS] for bag in bags], float)


def run(ask, *args, out="texts.npy"):
    done = ask("embed", "reviews.txt", "-o", out, *args)
    assert done.status == 0, done.err
    return np.load(out), done


def rows(path="texts.documents.tsv") -> list[list[str]]:
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    assert lines[0].split("\t") == ["id", "file", "line", "time", "known", "tokens"]
    return [line.split("\t") for line in lines[1:]]


def test_the_mean_is_that_of_dense_algebra(vectors, ask):
    made, done = run(ask, "--weights", "mean")
    counts = counts_of(BAGS)
    expected = counts @ vectors.matrix / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(made, expected, atol=1e-6)
    assert made.dtype == np.float32
    assert made.shape == (len(REVIEWS), K)
    assert "3 texts have no known word; their vectors are zero" in done.err


def test_each_line_has_a_row_and_an_entry_in_the_table(vectors, ask):
    run(ask, "--weights", "mean")
    assert [int(row[2]) for row in rows()] == list(range(1, len(REVIEWS) + 1))
    assert [int(row[4]) for row in rows()] == counts_of(BAGS).sum(axis=1).astype(int).tolist()
    assert [int(row[5]) for row in rows()] == TOKENS
    assert {row[1] for row in rows()} == {"reviews.txt"}


def test_tf_idf_is_that_of_scikit_learn(vectors, ask):
    made, _ = run(ask, "--weights", "tf-idf")
    weights = TfidfTransformer(norm="l1").fit_transform(counts_of(BAGS))
    np.testing.assert_allclose(made, weights @ vectors.matrix, atol=1e-6)


def test_sif_weights_are_those_of_the_paper(vectors, ask):
    made, done = run(ask, "--sif-a", "0.01", "--remove-components", "0")
    counts = counts_of(BAGS)
    p = counts.sum(axis=0) / sum(TOKENS)
    n = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(made, (counts * (0.01 / (0.01 + p))) @ vectors.matrix / n, atol=1e-6)
    assert "word frequencies from the texts themselves" in done.err


def test_sif_removes_the_first_singular_vector(vectors, ask):
    before, _ = run(ask, "--remove-components", "0", out="before.npy")
    made, _ = run(ask)
    _, _, Vt = np.linalg.svd(before.astype(float), full_matrices=False)
    np.testing.assert_allclose(made, before - np.outer(before @ Vt[0], Vt[0]), atol=1e-5)
    np.testing.assert_allclose(made @ Vt[0], 0, atol=1e-5)


def test_unit_words_are_averaged_as_fasttext_does(vectors, ask):
    made, _ = run(ask, "--weights", "mean", "--unit-words")
    unit = vectors.matrix / np.linalg.norm(vectors.matrix, axis=1, keepdims=True)
    counts = counts_of(BAGS)
    expected = counts @ unit / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(made, expected, atol=1e-6)


def test_all_but_the_top_is_applied_to_words(vectors, ask):
    made, _ = run(ask, "--weights", "mean", "--all-but-the-top", "2")
    centred = vectors.matrix - vectors.matrix.mean(axis=0)
    _, _, Vt = np.linalg.svd(centred, full_matrices=False)
    words = centred - centred @ Vt[:2].T @ Vt[:2]
    counts = counts_of(BAGS)
    expected = counts @ words / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(made, expected, atol=1e-5)


def test_lengths_and_empty_texts_are_as_asked(vectors, ask):
    made, _ = run(ask, "--l2", "--empty", "nan")
    empty = counts_of(BAGS).sum(axis=1) == 0
    assert np.isnan(made[empty]).all()
    np.testing.assert_allclose(np.linalg.norm(made[~empty], axis=1), 1, atol=1e-6)


def test_equal_texts_have_equal_vectors(vectors, ask):
    made, _ = run(ask)
    np.testing.assert_array_equal(made[2], made[7])


def test_duplicated_words_and_unusable_vectors_do_not_count(vectors, ask):
    matrix = vectors.matrix.copy()
    matrix[WORDS.index("bad")], matrix[WORDS.index("was")] = np.nan, 0
    nfd = unicodedata.normalize("NFD", "café")
    more = np.vstack([matrix, np.ones((1, K), np.float32)])
    write_vectors("vectors.bin", [*WORDS, nfd], more)
    made, done = run(ask, "--weights", "mean")
    np.testing.assert_allclose(made[2], vectors.matrix[WORDS.index("film")], atol=1e-6)
    used = [WORDS.index(word) for word in ("café", "the", "film", "good")]  # was: zero
    np.testing.assert_allclose(made[6], vectors.matrix[used].mean(axis=0), atol=1e-6)
    assert "the vector of 'bad' contains NaN or infinity" in done.err


@pytest.mark.parametrize("weights", ["mean", "tf-idf", "sif"])
def test_threads_and_memory_do_not_change_a_byte(vectors, ask, weights):
    lines = np.random.default_rng(5).choice(REVIEWS, 30_000)
    Path("reviews.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for threads, memory in (("1", "8"), ("3", "0.3")):
        run(ask, "--weights", weights, "--threads", threads, "--memory", memory,
            out=f"t{threads}.npy")  # fmt: skip
    assert Path("t1.npy").read_bytes() == Path("t3.npy").read_bytes()
    assert rows("t1.documents.tsv") == rows("t3.documents.tsv")
    assert np.load("t1.npy").shape == (30_000, K)


def test_pieces_of_the_text_do_not_change_the_vectors(vectors, ask, monkeypatch):
    lines = np.random.default_rng(5).choice(REVIEWS, 3_000)
    Path("reviews.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run(ask, out="whole.npy")
    monkeypatch.setattr(readers, "BLOCK", 999)
    monkeypatch.setattr(documents, "BLOCK", 1_001)
    monkeypatch.setattr(embedding, "_ROWS", 77)
    run(ask, out="pieces.npy")
    np.testing.assert_allclose(np.load("pieces.npy"), np.load("whole.npy"), atol=1e-6)
    assert rows("pieces.documents.tsv") == rows("whole.documents.tsv")


def test_sequences_are_means_of_their_overlapping_k_mers(tmp_path, monkeypatch, ask):
    monkeypatch.chdir(tmp_path)
    sequences = ["ACDEFGHIKL", "AC", "DEFGHACDEF", "KLKLKLKL"]
    Path("p.fasta").write_text("".join(f">p{k} x\n{s}\n" for k, s in enumerate(sequences)))
    count("p.fasta", out="cooc", min_count=1)
    train("cooc", "pmi-eigs", dim=3, out="vectors.bin")
    done = ask("embed", "p.fasta", "--id-field", "header", "--weights", "mean", "-o", "p.npy")
    assert done.status == 0, done.err
    with open_context(UseOptions()) as context:
        lookup = Lookup(read_vectors("vectors.bin"), EvalOptions())
        expected = averages(sequences, lookup, 3, context, "")
    made = np.load("p.npy")
    np.testing.assert_allclose(made[expected.items], expected.means, atol=1e-6)
    assert not made[1].any()
    assert [row[0] for row in rows("p.documents.tsv")] == ["p0", "p1", "p2", "p3"]


def test_lemmas_are_read_where_the_vectors_are_of_lemmas(tmp_path, monkeypatch, ask):
    monkeypatch.chdir(tmp_path)
    rows_of = [("cats", "cat"), ("sleep", "sleep"), ("dogs", "dog"), ("slept", "sleep")]
    lines = [f"{k}\t{form}\t{lemma}" + "\t_" * 7 for k, (form, lemma) in enumerate(rows_of, 1)]
    Path("bank").mkdir()
    Path("bank/a.conllu").write_text("\n".join(lines) + "\n\n")
    count("bank", out="cooc", min_count=1, column="lemma")
    train("cooc", "pmi-eigs", dim=2, out="vectors.bin")
    assert ask("embed", "bank", "-o", "texts.npy").status == 0
    assert [int(row[4]) for row in rows()] == [4]


def test_few_known_tokens_are_noted(vectors, ask):
    Path("reviews.txt").write_text("der film war gut\nle film était bon\n")
    _, done = run(ask)
    assert "only 25.0% of the tokens have a vector" in done.err


def test_vectors_of_one_dimension_keep_it(vectors, ask):
    write_vectors("vectors.bin", WORDS, vectors.matrix[:, :1])
    made, _ = run(ask)
    assert made.any()


@pytest.mark.parametrize("end", ["\r\n", "\n"])
def test_line_ends_and_a_byte_order_mark_change_nothing(vectors, ask, end):
    expected, _ = run(ask, out="one.npy")
    text = "\ufeff" + end.join(REVIEWS)  # without an end of the last line
    Path("reviews.txt").write_bytes(text.encode("utf-8"))
    made, _ = run(ask, out="two.npy")
    np.testing.assert_array_equal(made, expected)


def test_records_have_ids_and_several_files_follow_each_other(vectors, ask):
    records = [{"id": f"r{k}", "text": text} for k, text in enumerate(REVIEWS)]
    Path("a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records[:4]))
    Path("b.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records[4:]))
    expected, _ = run(ask)
    done = ask("embed", "a.jsonl", "b.jsonl", "--id-field", "id", "-o", "records.npy")
    assert done.status == 0, done.err
    np.testing.assert_array_equal(np.load("records.npy"), expected)
    table = rows("records.documents.tsv")
    assert [row[0] for row in table] == [f"r{k}" for k in range(len(REVIEWS))]
    assert [row[1] for row in table] == ["a.jsonl"] * 4 + ["b.jsonl"] * 5


def test_a_function_does_the_same(vectors, ask):
    made, done = run(ask, "--weights", "tf-idf", "--l2")
    again = wg.embed("reviews.txt", weights="tf-idf", l2=True)
    assert again.summary == "texts.npy: up to date"
    np.testing.assert_array_equal(again.value, made)
    other = wg.embed(["reviews.txt"], "vectors.bin", "lines.txt", weights="tf-idf", l2=True)
    np.testing.assert_allclose(np.loadtxt("lines.txt"), made, atol=1e-6)
    assert len(other.notes) == done.err.count("note: ")
    assert other.value is None
    for texts, base in ((3, "vectors.bin"), ("reviews.txt", vectors), ("good film", "vectors.bin")):
        with pytest.raises(WordgeomError, match="TextVectorizer takes texts and models in memory"):
            wg.embed(texts, base)  # type: ignore[arg-type]


def test_repeated_ids_are_noted(vectors, ask):
    Path("texts.csv").write_text("id,text\nr1,film\nr2,good\nr1,bad film\n")
    done = ask("embed", "texts.csv", "--text-field", "text", "--id-field", "id")
    assert "note: 1 ID occurs more than once (the first: 'r1'); rows are in the order" in done.err
    assert [row[0] for row in rows()] == ["r1", "r2", "r1"]


def test_what_is_left_out_of_the_texts_is_noted(vectors, ask):
    Path("bad.jsonl").write_bytes(b'{"text": "good film"}\nnot JSON\n{"text": "bad \xff film"}\n')
    done = ask("embed", "bad.jsonl", "--bad-records", "skip", "--bad-bytes", "skip")
    assert done.status == 0, done.err
    assert "skipped 1 malformed record; the first: bad.jsonl line 2" in done.err
    assert "1 byte that is not UTF-8 was replaced or skipped" in done.err
    assert len(np.load("texts.npy")) == 2


def test_a_file_can_be_a_text(vectors, ask):
    made, _ = run(ask, "--document", "file", "--weights", "mean")
    counts = counts_of([" ".join(BAGS)])
    np.testing.assert_allclose(made, counts @ vectors.matrix / counts.sum(), atol=1e-6)


@pytest.mark.parametrize(("suffix", "between"), [("txt", " "), ("tsv", "\t")])
def test_lines_hold_the_same_numbers(vectors, ask, suffix, between):
    expected, _ = run(ask)
    assert ask("embed", "reviews.txt", "-o", f"texts2.{suffix}").status == 0
    text = Path(f"texts2.{suffix}").read_text(encoding="ascii")
    made = np.array([line.split(between) for line in text.splitlines()], np.float32)
    np.testing.assert_array_equal(made, expected)


def test_standard_input_gives_a_line_each_on_standard_output(vectors, ask, monkeypatch):
    expected, _ = run(ask)
    text = io.BytesIO("\n".join(REVIEWS).encode())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=text))
    output = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", output)
    from wordgeom.cli import main

    assert main(["embed", "-", "-o", "-"]) == 0
    lines = output.buffer.getvalue().decode().splitlines()
    made = np.array([line.split(" ") for line in lines], np.float32)
    np.testing.assert_array_equal(made, expected)


def test_the_same_request_is_up_to_date_and_another_is_refused(vectors, ask):
    run(ask)
    assert "up to date" in ask("embed", "reviews.txt").out
    refused = ask("embed", "reviews.txt", "--l2")
    assert refused.status == 1
    assert "was made without --l2, not with" in refused.err
    assert ask("embed", "reviews.txt", "--l2", "--force").status == 0
    Path("texts.documents.tsv").write_text("edited")
    assert "is missing or has changed" in ask("embed", "reviews.txt", "--l2").err


def test_other_text_is_not_up_to_date(vectors, ask):
    run(ask)
    Path("reviews.txt").write_text("good film\n")
    assert "was made from another text" in ask("embed", "reviews.txt").err


def test_a_table_of_something_else_is_not_replaced(vectors, ask):
    Path("texts.documents.tsv").write_text("mine")
    assert "texts.documents.tsv: exists" in ask("embed", "reviews.txt").err
    assert Path("texts.documents.tsv").read_text() == "mine"


def test_vectors_of_another_suffix_keep_their_table(vectors, ask):
    assert ask("embed", "reviews.txt", "-o", "texts.npy").status == 0
    table = Path("texts.documents.tsv").read_text()
    for force in ((), ("--force",)):
        done = ask("embed", "reviews.txt", "-o", "texts.tsv", "--weights", "mean", *force)
        assert "texts.documents.tsv: lists the texts of texts.npy; name another" in done.err
    assert Path("texts.documents.tsv").read_text() == table
    assert not Path("texts.tsv").exists()


@pytest.mark.parametrize("command", [("info",), ("similar",), ("convert",)])
def test_vectors_of_texts_are_not_taken_for_those_of_words(vectors, ask, command):
    ask("embed", "reviews.txt")
    rest = {"similar": ("film",), "convert": ("out.bin",)}.get(command[0], ())
    assert "texts.npy: contains vectors of texts, not of words; read it with numpy.load" in (
        ask(*command, "texts.npy", *rest).err
    )


def test_skipped_records_are_noted(vectors, ask):
    lines = ['{"text": "good film"}', '{"text": null}', '{"body": "bad"}', '{"text": "bad"}']
    Path("texts.jsonl").write_text("\n".join(lines) + "\n")
    done = ask("embed", "texts.jsonl", "--bad-records", "skip")
    assert "note: skipped 2 malformed records; the first: texts.jsonl line 2: " in done.err
    assert np.load("texts.npy").shape == (2, K)


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("reviews.txt", "-o", "texts.bin"), "use .npy, .txt or .tsv"),
        (("reviews.txt", "-o", "reviews.txt"), "is an input"),
        (("reviews.txt", "-o", "no/texts.npy"), "no such directory"),
        (("reviews.txt", "--vectors", "none.bin"), "no such file"),
        (("reviews.txt", "--remove-components", "6"), "leaves none of 6 dimensions"),
        (("reviews.txt", "--all-but-the-top", "6"), "leaves none of 6 dimensions"),
        (("other.txt",), "no word has a vector in vectors.bin (3 tokens read)"),
        (("empty.txt",), "empty.txt: contains no words; check the file"),
        (("one.txt", "--vectors", "zeros.vec"), "zeros.vec: all 2 vectors are zero, or contain"),
        (("one.txt", "--remove-components", "1"), "1 text has a known word"),
        (
            ("two.txt", "--remove-components", "2", "--l2"),
            "--remove-components 2 leaves nothing: "
            "3 texts have a known word, and their vectors span 2 dimensions; lower --rem",
        ),
        ((), "embed needs TEXTS"),
        (("one.txt", "--k", "3"), "--k needs --tokeniser kmer, not words; leave --k out"),
        (
            ("one.txt", "--weights", "mean", "--sif-a", "0.001"),
            "--sif-a has no effect with --weights mean; leave it out",
        ),
    ],
)
def test_mistakes_are_told_in_one_line(vectors, ask, args, said):
    Path("other.txt").write_text("nothing known here\n")
    Path("empty.txt").write_text("")
    Path("zeros.vec").write_text("2 2\nfilm 0 0\ngood 0 0\n")
    Path("one.txt").write_text("film\n")
    Path("two.txt").write_text("film\ngood bad\nfilm film\n")
    done = ask("embed", *args)
    assert done.status in (1, 2)
    assert said in done.err
    assert len(done.err.splitlines()) == 1
    assert not Path("texts.npy").exists()


def test_one_text_keeps_its_component(vectors, ask):
    Path("one.txt").write_text("good film\n")
    done = ask("embed", "one.txt", "--sif-a", "1e6")
    assert "no component removed: 1 text has a known word" in done.err
    used = [WORDS.index(word) for word in ("good", "film")]
    np.testing.assert_allclose(np.load("texts.npy")[0], vectors.matrix[used].mean(axis=0),
                               atol=1e-4)  # fmt: skip


def test_equal_texts_keep_their_component(vectors, ask):
    Path("equal.txt").write_text("good film\nfilm good\n")
    done = ask("embed", "equal.txt", "--sif-a", "1e6", "--l2")
    assert "no component removed: 2 texts have a known word, and their vectors span 1 d" in done.err
    used = [WORDS.index(word) for word in ("good", "film")]
    mean = vectors.matrix[used].mean(axis=0)
    np.testing.assert_allclose(np.load("texts.npy"), [mean / np.linalg.norm(mean)] * 2, atol=1e-4)


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """Vectors of a corpus split at white space, its counts beside them."""
    monkeypatch.chdir(tmp_path)
    lines = ["The film was good .", "the Film was bad .", "The end ."] * 20
    Path("corpus.txt").write_text("\n".join(lines) + "\n")
    count("corpus.txt", out="cooc", min_count=1, tokeniser="whitespace")
    train("cooc", "pmi-eigs", dim=2, out="vectors.bin")
    Path("reviews.txt").write_text("The film\nthe film\nbad film.\n")


def test_texts_are_split_as_the_text_behind_the_vectors(trained, ask):
    _, done = run(ask)
    assert [int(row[4]) for row in rows()] == [2, 2, 1]  # film. is another token
    assert "word frequencies from cooc" in done.err
    assert "not recorded" not in done.err


def test_vectors_with_ngrams_have_the_counts_of_those_they_were_made_of(trained, ask):
    assert ask("subwords", "vectors.bin", "--min-words", "1").status == 0
    _, done = run(ask, "--vectors", "vectors.ngrams.bin", out="of-ngrams.npy")
    assert "word frequencies from cooc" in done.err


def test_the_run_card_records_the_split_where_the_counts_are_gone(trained, ask):
    Path("cooc").rename("moved")
    _, done = run(ask)
    assert [int(row[4]) for row in rows()] == [2, 2, 1]
    assert "word frequencies from the texts themselves" in done.err
    _, done = run(ask, "--counts", "moved", out="given.npy")
    assert "word frequencies from moved" in done.err


def test_another_split_must_be_asked_for_and_is_noted(trained, ask):
    _, done = run(ask, "--tokeniser", "words")
    assert [int(row[4]) for row in rows()] == [2, 2, 2]
    assert "was split with --tokeniser whitespace" in done.err
    Path("a.fasta").write_text(">a\nACDEFG\n")
    refused = ask("embed", "a.fasta", "-o", "a.npy")
    assert "--tokeniser whitespace does not support fasta" in refused.err


def test_an_unknown_split_is_noted(trained, ask):
    vectors = read_vectors("vectors.bin")
    write_vectors("plain.bin", vectors.words, vectors.matrix)
    done = ask("embed", "reviews.txt", "--vectors", "plain.bin")
    assert "it is not recorded how the text behind plain.bin was split" in done.err
