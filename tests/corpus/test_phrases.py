"""Phrases follow the definition for any block size, storage and thread count."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import pytest
from corpora import assert_one_line, encode_files, put, read, reference_stream, with_gaps
from hypothesis import given, settings
from hypothesis import strategies as st

from wordgeom.core.errors import InputError, OptionError
from wordgeom.corpus.encoding import memory_limits, phrases
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import candidate_types
from wordgeom.counts import cooccurrence

Documents = list[list[str]]
HOLE = " "  # a token without a row

# Few words, so that pairs repeat; some are spelt like phrases of others.
_texts = st.lists(
    st.lists(st.sampled_from(["a", "a", "b", "b", "c", "d", "a_b", "b_c"]), max_size=8),
    min_size=3,
    max_size=14,
).map(lambda lines: "\n".join(map(" ".join, lines)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("phrases")


def one_pass(documents: Documents, options: CorpusOptions, never: set[str]) -> Documents:
    counts = Counter(token for document in documents for token in document)
    pairs = Counter(pair for d in documents for pair in pairwise(d))
    least = math.exp(options.phrase_threshold) / max(sum(counts.values()), 1)
    chosen = {
        (first, second)
        for (first, second), count in pairs.items()
        if HOLE not in (first, second) and f"{first}_{second}" not in never
        if count > options.min_count
        and count - options.min_count >= least * counts[first] * counts[second]
    }
    return [joined(document, chosen) for document in documents]


def joined(document: list[str], chosen: set[tuple[str, str]]) -> list[str]:
    made = []
    k = 0
    while k < len(document):
        is_phrase = tuple(document[k : k + 2]) in chosen
        made.append("_".join(document[k : k + 2]) if is_phrase else document[k])
        k += 2 if is_phrase else 1
    return made


def reference(
    text: str, options: CorpusOptions, stop: set[str], keep: set[str]
) -> tuple[dict[str, int], list[str | None]]:
    """Words with counts, and the stream with gaps as corpora.read() makes it."""
    tokens = [line.split() for line in text.split("\n") if line.split()]
    counts = Counter(token for d in tokens for token in d)
    able = {w for w, n in counts.items() if (n >= options.min_count or w in keep)} - stop
    documents = [[t if t in able else HOLE for t in d] for d in tokens]
    for _ in range(options.phrases):
        documents = one_pass(documents, options, stop)
    counts = Counter(token for d in documents for token in d if token != HOLE)
    ranked = sorted(counts.items(), key=lambda pair: -pair[1])
    stays = sum(word in keep for word in counts)
    room = max(options.max_vocab - stays, 0) if options.max_vocab else len(counts)
    others = [w for w, n in ranked if n >= options.min_count and w not in keep][:room]
    vocabulary = {w: n for w, n in ranked if w in keep or w in set(others)}
    return vocabulary, with_gaps(reference_stream(documents, vocabulary, options, 1))


@settings(max_examples=30)
@given(
    _texts,
    st.integers(1, 3),
    st.sampled_from([-2.0, 0.0, 0.5, 1.0]),
    st.sampled_from([0, 0, 2]),
    st.sampled_from(["keep", "drop"]),
    st.sets(st.sampled_from(["c", "d", "b_c", "a_b_c"]), max_size=2),
    st.sets(st.sampled_from(["a", "a_b", "b_a", "x"]), max_size=2),
    st.sampled_from([0.0, 0.5]),
    st.sampled_from([3, 17, 1 << 10]),
    st.booleans(),
)
def test_phrases_follow_the_definition(
    folder: Path,
    text: str,
    passes: int,
    threshold: float,
    most: int,
    oov: str,
    stop: set[str],
    keep: set[str],
    sample: float,
    step: int,
    on_disk: bool,
):
    path, stops, keeps = put(folder, text, "\n".join(stop), "\n".join(keep))
    options = CorpusOptions(
        tokeniser="whitespace", min_count=2, max_vocab=most, oov=oov, sample=sample,
        stop_words=str(stops), keep_words=str(keeps), phrases=passes, phrase_threshold=threshold,
    )  # fmt: skip
    vocabulary, stream = reference(text, options, stop, keep)
    how = {"memory": 1 << 20, "threads": 2}
    with (
        patch.object(phrases, "_STEP", step),
        patch.object(cooccurrence, "_SMALLEST_CHUNK", 4 * step),
        patch.object(cooccurrence, "_CHUNK_SHARE", 2.0**-20),
        patch.object(memory_limits, "_IDS_SHARE", 1 << 40 if on_disk else 4),
    ):
        if not vocabulary:
            with pytest.raises(InputError):
                read([path], options, **how)
            return
        made = read([path], options, **how)
    assert list(made.vocabulary.items()) == list(vocabulary.items())
    assert made.stream == stream
    assert made.kept == sum(token is not None for token in stream)


def test_two_passes_join_up_to_four_words_and_a_phrase_is_one_token(folder: Path):
    (path,) = put(folder, "new york city hall\n" * 4)
    once = read([path], CorpusOptions(min_count=2, phrases=1, phrase_threshold=-0.5))
    twice = read([path], CorpusOptions(min_count=2, phrases=2, phrase_threshold=-0.5))
    assert once.vocabulary == {"new_york": 4, "city_hall": 4}
    assert twice.vocabulary == {"new_york_city_hall": 4}
    assert (once.tokens, twice.tokens, twice.documents, twice.short) == (8, 4, 4, 4)


def test_a_phrase_spelt_like_a_word_is_that_word(folder: Path):
    (path,) = put(folder, "new york\n" * 4 + "new_york\n" * 3)
    made = read([path], CorpusOptions(min_count=2, phrases=1, phrase_threshold=0.1))
    assert made.vocabulary == {"new_york": 7}


def test_pairs_cross_neither_documents_nor_rare_words(folder: Path):
    (path,) = put(folder, "".join(f"a x{k} b\nb\na\n" for k in range(4)))
    options = CorpusOptions(min_count=4, phrases=1, phrase_threshold=-9.0)
    assert set(read([path], options).vocabulary) == {"a", "b"}


def test_a_note_reports_the_number_of_phrases_and_the_most_frequent(folder: Path):
    (path,) = put(folder, "new york is big\n" * 4 + "new is york\n")
    options = CorpusOptions(min_count=2, phrases=1, phrase_threshold=0.0)
    (note,) = encode_files([path], options, gap=1).notes
    assert note == "2 phrases in the vocabulary: new_york, is_big"
    options = CorpusOptions(min_count=2, phrases=1, phrase_threshold=99.0)
    (note,) = encode_files([path], options, gap=1).notes
    assert note == "no phrases found; a lower --phrase-threshold finds more"


def test_phrases_and_a_fixed_vocabulary_exclude_each_other(folder: Path):
    path, words = put(folder, "a b", "a\n")
    with pytest.raises(OptionError) as caught:
        read([path], CorpusOptions(read_vocab=str(words), phrases=1))
    assert_one_line(caught, "--phrases and --read-vocab", "; omit one of them")


def test_phrases_that_leave_no_frequent_word_are_an_error_of_one_line(folder: Path):
    (path,) = put(folder, "a a a a a")
    with pytest.raises(InputError) as caught:
        read([path], CorpusOptions(min_count=3, phrases=1, phrase_threshold=-9.0))
    assert_one_line(
        caught, path, "no word occurs 3 times", "the most frequent of 2 occurs 2 times", "; lower"
    )


def test_phrases_that_exceed_the_memory_are_rejected_with_their_number(folder: Path):
    (path,) = put(folder, "a b c d\n" * 3)
    options = CorpusOptions(min_count=2, phrases=1, phrase_threshold=-9.0)
    with patch.object(candidate_types, "WORD_BYTES", 1 << 18), pytest.raises(InputError) as caught:
        read([path], options, memory=1 << 20)
    assert_one_line(caught, path, "does not fit in memory", ": 8 words or more need", "--max-vocab")


def test_a_pair_with_a_count_of_min_count_is_not_joined(folder: Path):
    (path,) = put(folder, "a b c d e f g h\n" + "x y z\n" * 2)
    made = read([path], CorpusOptions(min_count=1, phrases=1, phrase_threshold=0.0))
    assert [word for word in made.vocabulary if "_" in word] == ["x_y"]
