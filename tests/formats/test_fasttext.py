"""fastText's binary models: equal vectors in gensim, a round trip, and files that are broken."""

from __future__ import annotations

import struct
import warnings
from pathlib import Path

import numpy as np
import pytest

from wordgeom.core.errors import FormatError, InputError
from wordgeom.formats.fasttext import has_ngrams, read_fasttext, write_fasttext
from wordgeom.formats.vector_files import read_any_vectors, shape_of
from wordgeom.subwords.buckets import Buckets
from wordgeom.subwords.lengths import Lengths
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.stored import find_model
from wordgeom.subwords.units.utf8 import Utf8
from wordgeom.vectors.keyed import Vectors, read_vectors, write_vectors

WORDS = ["walk", "walking", "talks", "é", "한국어", "Straße", "x"]
UNSEEN = ["walked", "q", "한국", "größer", "talkingwalking"]
ENTRIES = 8 + 56  # bytes before the dictionary's sizes: magic, version and arguments
_MEMORY = 10**9


@pytest.fixture
def hashed(tmp_path, monkeypatch):
    """Vectors, and a model of hashed n-grams, written as a fastText model."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(3)
    vectors = Vectors(WORDS, draw.standard_normal((len(WORDS), 6)).astype(np.float32))
    ngrams = draw.standard_normal((40, 6)).astype(np.float32)
    used = np.sort(draw.permutation(97)[:40])
    model = SubwordModel("codepoint", Utf8(), Lengths(2, 4), Buckets(97, used), ngrams)
    with open("ft.bin", "wb") as out:
        write_fasttext(out, vectors, model)
    return vectors, model


def test_gensim_has_the_same_vectors(hashed):
    from gensim.models.fasttext import load_facebook_vectors

    vectors, model = hashed
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # gensim's own
        theirs = load_facebook_vectors("ft.bin")
    assert theirs.index_to_key == WORDS
    np.testing.assert_allclose(theirs[WORDS], vectors.matrix, atol=1e-5)
    np.testing.assert_allclose(theirs[UNSEEN], model.vectors_of(UNSEEN), atol=1e-5)


def test_what_is_written_is_read(hashed):
    vectors, model = hashed
    read = read_fasttext(Path("ft.bin"), _MEMORY)
    assert read.vectors.words == WORDS
    assert read.model is not None
    np.testing.assert_allclose(read.vectors.matrix, vectors.matrix, atol=1e-5)
    np.testing.assert_allclose(read.model.vectors_of(UNSEEN), model.vectors_of(UNSEEN), atol=1e-6)
    assert shape_of("ft.bin") == (len(WORDS), 6)
    np.testing.assert_array_equal(read_any_vectors(Path("ft.bin")).matrix, read.vectors.matrix)


def test_the_end_of_a_line_has_no_ngrams(hashed):
    vectors, model = hashed
    more = Vectors(["</s>", *WORDS], np.concatenate((vectors.matrix[:1], vectors.matrix)))
    with open("eos.bin", "wb") as out:
        write_fasttext(out, more, model)
    read = read_fasttext(Path("eos.bin"), _MEMORY).vectors
    np.testing.assert_allclose(read.matrix, more.matrix, atol=1e-5)


def test_models_convert_in_both_directions(hashed, ask):
    vectors, model = hashed
    made = ask("convert", "ft.bin", "v.bin")
    assert made.status == 0, made.err
    read = read_vectors("v.bin")
    found = find_model(Path("v.bin"), read)
    assert found is not None
    np.testing.assert_allclose(found.vectors_of(UNSEEN), model.vectors_of(UNSEEN), atol=1e-6)
    assert ask("convert", "v.bin", "again.bin", "--to", "fasttext").status == 0
    again = read_fasttext(Path("again.bin"), _MEMORY)
    assert again.model is not None
    np.testing.assert_allclose(again.vectors.matrix, vectors.matrix, atol=1e-5)
    np.testing.assert_allclose(again.model.vectors_of(UNSEEN), model.vectors_of(UNSEEN), atol=1e-6)


def test_a_model_without_buckets_has_words_alone(hashed, ask):
    raw = bytearray(Path("ft.bin").read_bytes())
    start = raw.index(struct.pack("<2q", len(WORDS) + 97, 6))
    struct.pack_into("<2q", raw, start, len(WORDS), 6)
    struct.pack_into("<i", raw, 8 + 32, 0)
    size = 16 + 4 * 6 * len(WORDS)
    Path("plain.bin").write_bytes(raw[: start + size] + raw[start + size + 4 * 6 * 97 :])
    assert not has_ngrams(Path("plain.bin"))
    assert has_ngrams(Path("ft.bin"))
    assert ask("convert", "plain.bin", "v.bin").status == 0
    assert read_vectors("v.bin").words == WORDS
    assert not Path("v.subwords").exists()
    assert ask("similar", "plain.bin", "walked").status == 1


def test_models_that_fasttext_cannot_read_are_refused(hashed, ask):
    words = [f"{stem}{end}" for stem in ("walk", "talk", "call") for end in ("", "s", "ing")]
    matrix = np.random.default_rng(1).standard_normal((9, 5)).astype(np.float32)
    write_vectors("plain.bin", words, matrix)
    made = ask("convert", "plain.bin", "x.bin", "--to", "fasttext")
    assert made.status == 1
    assert "plain.bin: has no subword model beside it, which fastText needs" in made.err
    how = ["--min-words", "2", "--unit", "grapheme"]
    assert ask("subwords", "plain.bin", "-o", "g.bin", *how).status == 0
    made = ask("convert", "g.bin", "x.bin", "--to", "fasttext")
    assert made.status == 1
    assert "its n-grams of grapheme units are not hashed" in made.err
    assert not Path("x.bin").exists()


def changed(at, value, form="<i"):
    """Return the model with a number replaced."""
    raw = bytearray(Path("ft.bin").read_bytes())
    struct.pack_into(form, raw, at, value)
    return bytes(raw)


_SIZES = "<3i2q"


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: changed(8, 2**31 - 1), FormatError, "its matrix must be 104 × 2,147,483,647"),
        (lambda: changed(8, -3), FormatError, "declares -3 dimensions"),
        (lambda: changed(8 + 32, 2**31 - 1), FormatError, "its matrix must be"),
        (lambda: changed(8 + 28, 3), InputError, "supervised"),
        (lambda: changed(8 + 40, 10**6), FormatError, "n-grams of 2 to 1000000"),
        (lambda: changed(ENTRIES, 5), FormatError, "declares 5 entries, 7 words"),
        (lambda: changed(ENTRIES + 20, 9, "<q"), InputError, "quantised"),
        (lambda: changed(4, 13), FormatError, "version 11 or 12"),
        (lambda: changed(ENTRIES + 28, 0xFF, "<B"), FormatError, "word 1 is not UTF-8"),
        (lambda: Path("ft.bin").read_bytes()[:1000], FormatError, "truncated in a matrix"),
        (lambda: Path("ft.bin").read_bytes()[:-1], FormatError, "truncated in the matrix of out"),
        (lambda: Path("ft.bin").read_bytes()[:100], FormatError, "truncated in 7 words"),
        (lambda: Path("ft.bin").read_bytes()[:20], FormatError, "truncated in its header"),
        (lambda: b"", FormatError, "is empty"),
    ],
)
def test_broken_files_are_errors(hashed, make, error, said):
    Path("broken.bin").write_bytes(make())
    with pytest.raises(error, match=said):
        read_fasttext(Path("broken.bin"), _MEMORY)


@pytest.mark.parametrize(("rows", "said"), [(-1, "declares a matrix"), (2**60, "truncated in the")])
def test_lies_about_the_matrix_of_outputs_are_errors(hashed, rows, said):
    at = len(Path("ft.bin").read_bytes()) - 4 * 6 * len(WORDS) - 16
    Path("broken.bin").write_bytes(changed(at, rows, "<q"))
    with pytest.raises(FormatError, match=said):
        read_fasttext(Path("broken.bin"), _MEMORY)


def test_numbers_that_are_not_finite_and_lies_about_words_are_errors(hashed):
    size = len(Path("ft.bin").read_bytes())
    first = size - 4 * 6 * len(WORDS) - 17 - 4
    Path("broken.bin").write_bytes(changed(first, np.nan, "<f"))
    with pytest.raises(FormatError, match="not finite"):
        read_fasttext(Path("broken.bin"), _MEMORY)
    raw = bytearray(Path("ft.bin").read_bytes())
    struct.pack_into("<2i", raw, ENTRIES, 2**31 - 1, 2**31 - 1)
    Path("broken.bin").write_bytes(raw)
    with pytest.raises(FormatError, match="truncated in 2,147,483,647 words"):
        read_fasttext(Path("broken.bin"), _MEMORY)
    with pytest.raises(InputError, match="memory limit"):
        read_fasttext(Path("ft.bin"), 100)
