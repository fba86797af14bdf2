"""Peers: their text, their mathematics, and the cache of trained peers."""

from __future__ import annotations

import dataclasses
import gzip
import itertools
import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line, build, put, reference_documents
from hypothesis import given
from hypothesis import strategies as st
from running import build_pmi

from wordgeom import peers
from wordgeom.core.errors import InputError, MissingInputError, OptionError
from wordgeom.corpus.options import CorpusOptions
from wordgeom.linalg.device import open_context
from wordgeom.matrices.opening import open_any
from wordgeom.peers import PeerOptions, cache, counted, sentences
from wordgeom.peers.__main__ import main as train_peer
from wordgeom.peers.sentences import Text
from wordgeom.runtime.progress import Progress
from wordgeom.runtime.run_options import RunOptions
from wordgeom.runtime.subprocesses import Finished
from wordgeom.vectors.keyed import read_vectors, write_vectors
from wordgeom.vectors.run_card import card_path
from wordgeom.weighting.options import PmiOptions

SMALL = PeerOptions(dim=5, window=3, threads=1, seed=1, epochs=1)


def text_of(*paths: Path, tokeniser: str = "words", document: str = "line") -> Text:
    options = CorpusOptions("text", tokeniser=tokeniser, document=document, min_count=1)
    return Text(tuple(str(p) for p in paths), options)


def read(text: Text) -> list[list[str]]:
    """Return the sentences of a text, iterated twice, as peers do."""
    with (
        open_context(RunOptions(threads=2)) as using,
        sentences.open_sentences(text, using) as found,
    ):
        first = [list(sentence) for sentence in found]
        assert [list(sentence) for sentence in found] == first
        return first


def lines(rows: int = 300, seed: int = 0) -> str:
    """Lines of words about one of five topics each."""
    draw = np.random.default_rng(seed)
    ids = draw.integers(0, 12, (rows, 9)) + 12 * draw.integers(0, 5, (rows, 1))
    return "".join(" ".join(f"w{k}" for k in line) + "\n" for line in ids)


# ── The text ─────────────────────────────────────────────────────────────────────────────────

texts = st.lists(st.sampled_from(["A ", "b ", "Мир ", "\n", "\n\n", "-"]), min_size=1).map("".join)


@given(
    parts=st.lists(texts, min_size=1, max_size=2),
    document=st.sampled_from(["line", "block", "file"]),
)
def test_sentences_are_the_counted_documents_cut_as_by_gensim(tmp_path_factory, parts, document):
    whole = reference_documents(parts, "words", document)
    if not whole:
        return
    paths = put(tmp_path_factory.mktemp("text"), *parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sentences, "LONGEST", 3)
        patch.setattr(sentences, "_IDS", 4)
        found = read(text_of(*paths, document=document))
    cut = [tokens[k : k + 3] for tokens in whole for k in range(0, len(tokens), 3)]
    assert found == cut


def test_sentences_have_the_words_of_the_counts_in_their_tokens(tmp_path):
    (path,) = put(tmp_path, "\ufeffThe caf\u00e9, the cafe\u0301\r\n\r\nThe end of it\r\n")
    stop = tmp_path / "stop.txt"
    stop.write_text("the\n")
    build(path, tmp_path / "cooc", min_count=1, stop_words=str(stop), max_vocab=3, window=2)
    text = counted.counted_text(tmp_path / "cooc", ()).text
    assert read(text) == [["caf\u00e9", "caf\u00e9"], ["end", "of"]]
    everything = dataclasses.replace(text, matrix=None, options=CorpusOptions(min_count=2))
    assert read(everything) == [["the", "caf\u00e9", "the", "caf\u00e9"], ["the"]]


def test_phrases_are_those_of_the_counts(tmp_path):
    (path,) = put(tmp_path, "new york is big\nnew york is old\nbig is not old\n" * 3)
    build(path, tmp_path / "cooc", min_count=3, phrases=1, phrase_threshold=-5.0)
    made = read(counted.counted_text(tmp_path / "cooc", ()).text)
    held = open_any(tmp_path / "cooc").vocabulary
    found = Counter(word for sentence in made for word in sentence)
    assert found == dict(zip(held.words, held.counts.tolist(), strict=True))
    assert any("_" in word for word in found)


def test_records_and_compressed_text_are_read_as_for_the_counts(tmp_path):
    path = tmp_path / "t.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"text": "A b."}\n{"text": "c\\nd"}\n'))
    build(path, tmp_path / "cooc", tokeniser="whitespace", min_count=1)
    assert read(counted.counted_text(tmp_path / "cooc", ()).text) == [["A", "b."], ["c", "d"]]


def test_the_counted_text_is_found_by_the_card_of_the_counts(tmp_path):
    path, other = put(tmp_path, lines(), lines(seed=1))
    build(path, tmp_path / "cooc", window=4, min_count=3)
    build_pmi(tmp_path / "cooc", tmp_path / "pmi", PmiOptions(), RunOptions())
    for matrix in ("cooc", "pmi"):
        found = counted.counted_text(tmp_path / matrix, ())
        assert (found.text.names, found.window) == ((str(path),), 4)
        assert (found.text.options.tokeniser, found.notes) == ("words", ())
    assert counted.counted_text(tmp_path / "cooc", [str(path)]).notes == ()
    assert "differs" in counted.counted_text(tmp_path / "cooc", [str(other)]).notes[0]


def test_missing_changed_or_piped_text_is_an_error(tmp_path, monkeypatch):
    (path,) = put(tmp_path, lines())
    build(path, tmp_path / "cooc")
    path.write_text(lines(seed=2))
    with pytest.raises(InputError) as caught:
        counted.counted_text(tmp_path / "cooc", ())
    assert_one_line(caught, path, "has changed", "--corpus")
    path.unlink()
    with pytest.raises(MissingInputError) as missing:
        counted.counted_text(tmp_path / "cooc", ())
    assert_one_line(missing, path, "is missing", "--corpus")
    with pytest.raises(OptionError) as stream:
        counted.counted_text(tmp_path / "cooc", ["-"])
    assert_one_line(stream, "--corpus needs files", "-")


def test_a_matrix_without_its_counts_has_no_peers(tmp_path):
    (path,) = put(tmp_path, lines())
    build(path, tmp_path / "cooc")
    build_pmi(tmp_path / "cooc", tmp_path / "pmi", PmiOptions(), RunOptions())
    (tmp_path / "cooc").rename(tmp_path / "elsewhere")
    with pytest.raises(OptionError) as caught:
        counted.counted_text(tmp_path / "pmi", ())
    assert_one_line(caught, "pmi", "window", "; ")


# ── The models ───────────────────────────────────────────────────────────────────────────────


def documents() -> list[list[str]]:
    return [line.split() for line in lines().splitlines()]


def test_lsi_is_the_svd_of_the_tf_idf_matrix():
    found = peers.load("lsi").train(documents(), SMALL)
    words, counts = found.vectors.words, np.zeros((len(found.vectors.words), 300))
    for column, document in enumerate(documents()):
        for word in document:
            counts[words.index(word), column] += 1
    weighted = counts * np.log2(300 / np.count_nonzero(counts, axis=1))[:, None]
    weighted /= np.linalg.norm(weighted, axis=0)
    u = np.linalg.svd(weighted, full_matrices=False)[0][:, :5]
    ours = found.vectors.matrix
    assert np.abs(np.abs(np.einsum("ij,ij->j", ours, u)) - 1).max() < 1e-5
    assert found.tokens == 300 * 9


def test_lsi_reports_fewer_columns():
    found = peers.load("lsi").train([["a", "b"], ["a"], [], ["b", "b"]], SMALL)
    assert found.vectors.words == ["a", "b"]
    assert found.vectors.matrix.shape[1] < 5
    assert "--dim 5" in found.notes[-1]


@pytest.mark.parametrize(
    ("text", "say"),
    [
        ([["a", "b", "a"]], ("more than one document", "found 1")),
        ([[], []], ("no word of the counts",)),
        ([["a", "b"], ["b", "a"]], ("every word is in every document",)),
    ],
)
def test_lsi_rejects_texts_that_it_cannot_decompose(text, say):
    with pytest.raises(InputError) as caught:
        peers.load("lsi").train(text, SMALL)
    assert_one_line(caught, *say)


def test_sgns_has_a_vector_for_each_frequent_word():
    found = peers.load("sgns").train([*documents(), []], SMALL)
    assert sorted(found.vectors.words) == sorted({w for line in documents() for w in line})
    assert found.vectors.matrix.shape == (60, 5)
    assert found.vectors.matrix.dtype == np.float32
    assert 0 < found.tokens <= 300 * 9  # of one epoch, after subsampling
    assert f"trained on {found.tokens:,} of 2,700 tokens" in found.notes[0]
    with pytest.raises(InputError) as caught:
        peers.load("sgns").train([[], []], SMALL)
    assert_one_line(caught, "no word of the counts")


def test_the_peers_of_the_family_differ_and_share_their_settings(monkeypatch):
    monkeypatch.setattr("wordgeom.peers.fasttext._BUCKETS", 1000)
    made = {
        name: peers.load(name).train(documents(), SMALL) for name in ("sgns", "cbow", "fasttext")
    }
    for found in made.values():
        assert found.vectors.matrix.shape == (60, 5)
        assert "window 3, sample 0.001, negative 5, 1 epoch:" in found.notes[0]
    for one, other in itertools.combinations(made.values(), 2):
        assert one.vectors.words == other.vectors.words
        assert not np.allclose(one.vectors.matrix, other.vectors.matrix)
    assert "FastText, sg 1, min_n 3, max_n 6, bucket 1,000" in made["fasttext"].notes[0]


def test_a_fasttext_vector_is_the_mean_of_its_n_grams(monkeypatch):
    monkeypatch.setattr("wordgeom.peers.fasttext._BUCKETS", 1000)
    from gensim.models import FastText

    made: list[FastText] = []

    def make(*args, **kw):
        made.append(FastText(*args, **kw))
        return made[0]

    make.__name__ = "FastText"
    monkeypatch.setattr("gensim.models.FastText", make)
    found = peers.load("fasttext").train(documents(), SMALL)
    wv = made[0].wv
    word = found.vectors.words[0]
    row = wv.key_to_index[word]
    parts = [wv.vectors_vocab[row], *wv.vectors_ngrams[wv.buckets_word[row]]]
    np.testing.assert_allclose(found.vectors.matrix[0], np.mean(parts, axis=0), rtol=1e-5)


def test_an_unknown_peer_suggests_the_nearest_name():
    with pytest.raises(OptionError) as caught:
        peers.load("sgn")
    assert_one_line(caught, "'sgn'", "did you mean sgns?")


# ── The cache ────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def trainings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The requests to the processes that would train peers."""
    asked: list[dict[str, Any]] = []

    def run(module: str, arguments: list[str], follow: Any) -> Finished:
        assert module == "wordgeom.peers"
        asked.append(json.loads(arguments[0]))
        write_vectors(arguments[1], ["a", "b"], np.full((2, 5), len(asked), np.float32))
        return Finished("50\n" + json.dumps({"tokens": 7, "peak_bytes": 8, "notes": ["so"]}), 9.0)

    monkeypatch.setenv("WORDGEOM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "run_module", run)
    return asked


def test_a_peer_is_trained_once_for_the_same_text(tmp_path, trainings):
    one, same, other = put(tmp_path, "a b", "a b", "a c")
    first = cache.trained_peer("sgns", text_of(one), SMALL, tmp_path)
    second = cache.trained_peer("sgns", text_of(same), SMALL, tmp_path)
    assert (first.cached, second.cached, len(trainings)) == (False, True, 1)
    assert (second.seconds, second.peak_bytes, second.tokens, second.notes) == (9, 8, 7, ("so",))
    assert second.path.is_relative_to(tmp_path / "cache")
    cache.trained_peer("sgns", text_of(other), SMALL, tmp_path)
    cache.trained_peer("lsi", text_of(one), SMALL, tmp_path)
    cache.trained_peer("sgns", text_of(one, document="file"), SMALL, tmp_path)
    cache.trained_peer("sgns", text_of(one), PeerOptions(5, 3, threads=1, seed=2), tmp_path)
    assert len(trainings) == 5
    assert len(list((tmp_path / "cache" / "peers").iterdir())) == 10  # and nothing half made


@pytest.mark.parametrize("damaged", ["vectors", "card"])
def test_a_damaged_entry_is_trained_again(tmp_path, trainings, damaged):
    (path,) = put(tmp_path, "a b")
    entry = cache.trained_peer("sgns", text_of(path), SMALL, tmp_path)
    victim = entry.path if damaged == "vectors" else card_path(entry.path)
    victim.write_bytes(victim.read_bytes()[:-3])
    again = cache.trained_peer("sgns", text_of(path), SMALL, tmp_path)
    assert (again.cached, len(trainings)) == (False, 2)
    assert (read_vectors(again.path).matrix == 2).all()
    assert cache.trained_peer("sgns", text_of(path), SMALL, tmp_path).cached


def test_no_cache_neither_reads_nor_writes(tmp_path, trainings):
    (path,) = put(tmp_path, "a b")
    cached = cache.trained_peer("sgns", text_of(path), SMALL, tmp_path)
    before = {p: p.read_bytes() for p in (tmp_path / "cache").rglob("*.*")}
    spare = tmp_path / "spare"
    spare.mkdir()
    fresh = cache.trained_peer("sgns", text_of(path), SMALL, spare, cache=False)
    assert (cached.path.parent == spare, fresh.path.parent, len(trainings)) == (False, spare, 2)
    assert {p: p.read_bytes() for p in (tmp_path / "cache").rglob("*.*")} == before


def test_counts_with_other_words_train_again(tmp_path, trainings):
    (path,) = put(tmp_path, lines())
    build(path, tmp_path / "one", min_count=1)
    build(path, tmp_path / "same", min_count=1)
    build(path, tmp_path / "other", min_count=1, max_vocab=9)
    for name in ("one", "same", "other"):
        text = dataclasses.replace(text_of(path), matrix=str(tmp_path / name))
        cache.trained_peer("sgns", text, SMALL, tmp_path)
    assert len(trainings) == 2


def test_without_a_cache_the_fallback_directory_is_used(tmp_path, trainings, monkeypatch):
    (path,) = put(tmp_path, "a b")
    monkeypatch.setenv("WORDGEOM_CACHE", str(path))  # a file
    spare = tmp_path / "spare"
    spare.mkdir()
    entry = cache.trained_peer("sgns", text_of(path), SMALL, spare)
    assert entry.path.parent == spare


def test_a_peer_trains_in_its_own_process_which_a_bar_follows(tmp_path, monkeypatch):
    moved: list[int] = []
    monkeypatch.setattr(Progress, "bar", lambda *_: SimpleNamespace(
        update=moved.append, close=lambda: moved.append(-1)))  # fmt: skip
    monkeypatch.setenv("WORDGEOM_CACHE", str(tmp_path / "cache"))
    (path,) = put(tmp_path, lines())
    text = text_of(path, tokeniser="whitespace")
    entry = cache.trained_peer("sgns", text, SMALL, tmp_path)
    assert (sum(moved[:-1]), moved[-1]) == (100, -1)
    assert read_vectors(entry.path).matrix.shape == (60, 5)
    assert entry.seconds > 0.2  # Python and gensim alone take longer
    assert entry.peak_bytes == 0 or entry.peak_bytes > 10**7
    assert "of 2,700 tokens" in entry.notes[0]
    monkeypatch.setattr(cache, "run_module", None)
    assert cache.trained_peer("sgns", text, SMALL, tmp_path).cached


def test_the_process_of_a_peer_reports_its_progress(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sentences, "_IDS", 64)
    (path,) = put(tmp_path, lines())
    for name in ("sgns", "lsi"):
        request = {"peer": name, "text": dataclasses.asdict(text_of(path)),
                   "options": dataclasses.asdict(SMALL)}  # fmt: skip
        assert train_peer(json.dumps(request), str(tmp_path / "out.bin")) == 0
        *percents, facts = capsys.readouterr().out.splitlines()
        numbers = [int(percent) for percent in percents]
        assert numbers == sorted(set(numbers))
        assert (len(numbers) > 40, numbers[-1]) == (True, 100)
        assert json.loads(facts)["notes"]


def test_a_failed_training_is_a_one_line_error(tmp_path, capsys):
    (path,) = put(tmp_path, "a b")
    text = dataclasses.asdict(Text((str(path),), CorpusOptions()))
    request = {"peer": "sgns", "text": text, "options": dataclasses.asdict(SMALL)}
    assert train_peer(json.dumps(request), str(tmp_path / "out.bin")) == 1
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert told.err.startswith(f"wordgeom: error: {path}: no word occurs 5 times")
    assert not (tmp_path / "out.bin").exists()
