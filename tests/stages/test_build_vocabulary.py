"""`--vocab-only`: the words of all shards come to the vocabulary that a count of the text has."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line, build, corpus_texts, put, small
from hypothesis import given, settings
from hypothesis import strategies as st
from running import merge_cooc

from wordgeom.core.errors import InputError, OptionError, StaleOutputError
from wordgeom.corpus.encoding.word_counts import add_words, cut_words
from wordgeom.corpus.encoding.word_lists import WordLists
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.runtime.run_options import RunOptions
from wordgeom.stages.build_cooc import BuildCooc
from wordgeom.stages.build_vocabulary import BuildVocabulary
from wordgeom.stages.shard import Shard
from wordgeom.stages.stage import run_stage
from wordgeom.storage.store import Store

RUN = RunOptions(threads=2)
_CUTS = st.fixed_dictionaries(
    {
        "tokeniser": st.sampled_from(["words", "whitespace"]),
        "min_count": st.integers(1, 3),
        "max_vocab": st.integers(0, 4),
    }
)


def vocabulary(names: list[Path], out: Path, shard: Shard | None = None, **options: Any) -> Store:
    """Count the words of a text, or of a shard of it."""
    corpus = CorpusOptions(**{"min_count": 1, **options})
    files = tuple(map(str, names))
    made: Store = run_stage(BuildVocabulary(files, out, corpus, RUN, part=shard)).value
    return made


def merged(names: list[Path], of: int, folder: Path, **options: Any) -> Store:
    """Count the words of all shards of a text, and merge them in another order."""
    parts = [
        vocabulary(names, folder / f"words{k}", Shard(k, of), **options).path
        for k in range(1, of + 1)
    ]
    return merge_cooc(parts[::-1], folder / "vocab", RUN).store


@settings(max_examples=10, deadline=None)
@given(texts=st.lists(corpus_texts, min_size=1, max_size=3), of=st.integers(2, 6), cuts=_CUTS)
def test_words_of_shards_come_to_the_vocabulary_of_the_count(
    texts: list[str], of: int, cuts: dict[str, Any]
):
    texts[0] = "\ufeffa b a b a b\n" + texts[0]
    with tempfile.TemporaryDirectory() as name, small(block=16):
        folder = Path(name)
        names = put(folder, *texts)
        counted = build(names, folder / "cooc", **cuts).store
        whole = vocabulary(names, folder / "whole", **cuts)
        shards = merged(names, of, folder, **cuts)
    assert whole.attributes == {k: counted.attributes[k] for k in ("tokens",)} | {
        "words": counted.attributes["shape"][0]
    }
    assert whole.digest == shards.digest


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A text of five words with their own numbers of occurrences."""
    return put(tmp_path, "e d c b a\nb c d e\nc d e\nd e\ne x\n" * 3)[0]


def test_the_vocabulary_has_the_bytes_of_a_count(tmp_path: Path, text: Path):
    (tmp_path / "stop").write_text("d\n")
    (tmp_path / "keep").write_text("x\nnever\n")
    lists = {"stop_words": str(tmp_path / "stop"), "keep_words": str(tmp_path / "keep")}
    options: dict[str, Any] = {"min_count": 7, "max_vocab": 3, **lists}
    counted = build(text, tmp_path / "cooc", **options).store
    assert merged([text], 4, tmp_path, **options).text("vocab") == counted.text("vocab")
    assert b"".join(counted.text("vocab").split(b"\n")) == b"e\t15c\t9x\t3"


def test_a_store_serves_as_vocabulary(tmp_path: Path, text: Path):
    other = put(tmp_path, "a b c d e\n" * 7, "c d e\n" * 9)[1]
    words = vocabulary([other], tmp_path / "vocab", min_count=6)
    by_store = build(text, tmp_path / "one", read_vocab=str(words.path)).store
    listed = tmp_path / "words.tsv"
    listed.write_bytes(words.text("vocab"))
    assert "up to date" in build(text, by_store.path, read_vocab=str(listed)).summary


def test_a_count_with_the_vocabulary_of_its_text_is_the_count_of_its_options(
    tmp_path: Path, text: Path
):
    words = merged([text], 2, tmp_path, min_count=6)
    made = build(text, tmp_path / "cooc", read_vocab=str(words.path), window=3)
    assert "up to date" in build(text, tmp_path / "cooc", min_count=6, window=3).summary
    with pytest.raises(StaleOutputError, match="was made with --min-count 6, not 5"):
        build(text, tmp_path / "cooc", min_count=5, window=3)
    text.write_bytes(text.read_bytes() + b"a b\n")  # now the vocabulary is of another text
    again = build(text, tmp_path / "again", read_vocab=str(words.path), window=3).store
    assert again.request["options"]["read_vocab"] is not None
    assert made.store.request["options"]["read_vocab"] is None


def test_a_shard_does_not_serve_as_vocabulary(tmp_path: Path, text: Path):
    words = vocabulary([text], tmp_path / "words", Shard(1, 2))
    with pytest.raises(InputError) as caught:
        build(text, tmp_path / "cooc", read_vocab=str(words.path))
    assert_one_line(caught, words.path, "is only shard 1 of 2; combine the shards with wordgeom")


def test_a_text_whose_words_are_rare_has_no_vocabulary(tmp_path: Path, text: Path):
    said = "no word occurs 99 times (the most frequent of 6 occurs 15 times); lower --min-count"
    with pytest.raises(InputError) as caught:
        vocabulary([text], tmp_path / "whole", min_count=99)
    assert_one_line(caught, f"{text}: {said}")
    with pytest.raises(InputError) as caught:
        merged([text], 2, tmp_path, min_count=99)
    assert_one_line(caught, f"{tmp_path / 'words1'}: {said}")
    assert not (tmp_path / "whole").exists()
    assert not (tmp_path / "vocab").exists()


def test_a_vocabulary_is_described(tmp_path: Path, text: Path, ask, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = vocabulary([text], tmp_path / "vocab", max_vocab=2)
    said = json.loads(ask("info", "vocab", "--check", "--json").out)
    assert (said["kind"], said["words"], said["digest"]) == ("vocabulary", 2, words.digest)
    assert said["most frequent"] == ["e", "d"]
    refused = ask("convert", "vocab", "vocab.txt")
    assert refused.status != 0
    assert "is a vocabulary, which has no other format; read its vocab.tsv" in refused.err


def test_a_shard_saves_no_vocabulary(tmp_path: Path, text: Path):
    save = tmp_path / "words.tsv"
    corpus = CorpusOptions(read_vocab=str(text))
    for stage in (
        BuildVocabulary((str(text),), tmp_path / "w", CorpusOptions(), RUN, save_vocab=save,
                        part=Shard(1, 2)),
        BuildCooc((str(text),), tmp_path / "c", corpus, RUN, save_vocab=save, part=Shard(1, 2)),
    ):  # fmt: skip
        with pytest.raises(OptionError) as caught:
            run_stage(stage)
        assert_one_line(caught, "--save-vocab needs the whole text, not a shard of it")
    assert not save.exists()


def test_a_whole_vocabulary_can_be_saved(tmp_path: Path, text: Path):
    save = tmp_path / "words.tsv"
    stage = BuildVocabulary((str(text),), tmp_path / "w", CorpusOptions(), RUN, save_vocab=save)
    assert run_stage(stage).value.text("vocab") == save.read_bytes()


def test_what_has_no_words_of_shards_is_refused(tmp_path: Path, text: Path):
    for options, error, said in (
        ({"phrases": 1}, OptionError, "--vocab-only and --phrases are mutually exclusive"),
        ({"read_vocab": str(text)}, OptionError, "--vocab-only and --read-vocab are mutually"),
        ({"sample": 0.1}, InputError, "cannot be read in parts: --sample depends on all text"),
    ):
        with pytest.raises(error) as caught:
            vocabulary([text], tmp_path / "words", Shard(1, 2), **options)
        assert_one_line(caught, said)
    assert not (tmp_path / "words").exists()


def test_shards_of_words_that_do_not_belong_together_are_refused(tmp_path: Path, text: Path):
    one, two, three = (vocabulary([text], tmp_path / f"w{k}", Shard(k, 3)) for k in (1, 2, 3))
    rare = vocabulary([text], tmp_path / "rare", Shard(3, 3), min_count=2)
    matrix = build(text, tmp_path / "cooc").store
    for stores, said in (
        ([one, three], "merge: shard 2 of 3 is missing"),
        ([one, two, rare], "was made with --min-count 2, not 1"),
        ([one, two, matrix], "is a co-occurrence matrix, and"),
    ):
        with pytest.raises(InputError) as caught:
            merge_cooc([store.path for store in stores], tmp_path / "vocab", RUN)
        assert_one_line(caught, said)
    with pytest.raises(InputError) as caught:
        merge_cooc([one.path, two.path, three.path], tmp_path / "vocab", RUN, union=True)
    assert_one_line(caught, "is a vocabulary, to which --union does not apply")


@given(st.lists(st.text("abcd", max_size=9), min_size=1, max_size=4), st.integers(1, 3))
def test_ties_are_broken_by_the_first_occurrence_in_the_text(parts: list[str], least: int):
    counted = [
        Vocabulary(
            list(dict.fromkeys(part)),
            np.array([part.count(c) for c in dict.fromkeys(part)], np.int64),
        )
        for part in parts
    ]
    text = "".join(parts)
    expected = sorted(dict.fromkeys(text), key=lambda c: -text.count(c))
    expected = [c for c in expected if text.count(c) >= least]
    options = CorpusOptions(min_count=least)
    if not expected:
        with pytest.raises(InputError, match="no word occurs"):
            cut_words(add_words(counted), WordLists(None, [], []), options)
        return
    found = cut_words(add_words(counted), WordLists(None, [], []), options)
    assert found.words == expected
    assert found.counts.tolist() == [text.count(c) for c in expected]
