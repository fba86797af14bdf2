"""word2vec files: exact round trips, and no vectors from an invalid file."""

from __future__ import annotations

import os
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wordgeom.core.errors import (
    FormatError,
    InputError,
    MissingInputError,
    OptionError,
    WordgeomError,
)
from wordgeom.vectors.keyed import (
    Vectors,
    from_keyed_vectors,
    read_vectors,
    to_keyed_vectors,
    write_vectors,
)

SUFFIXES = [".bin", ".txt", ".vec"]
WORDS = ["the", "naïve", "東京", "a\0b", "\ufeffmark", "1.5", "e\u0301"]

# No surrogates (they have no UTF-8) and no white space of any alphabet.
word_lists = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(
        lambda word: not any(map(str.isspace, word))
    ),
    min_size=1,
    max_size=8,
    unique=True,
)


def matrix_for(words: list[str], columns: int = 3, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((len(words), columns)).astype(np.float32)


def bits(matrix: np.ndarray) -> list[list[int]]:
    """Bits of each number, with one value for every nan."""
    return np.where(np.isnan(matrix), np.float32(np.nan), matrix).view(np.uint32).tolist()


def assert_one_line(error: pytest.ExceptionInfo[WordgeomError], *parts: object) -> None:
    line = str(error.value)
    assert len(line.splitlines()) == 1
    for part in parts:
        assert str(part) in line


def put(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def written(path: Path, words: list[str], matrix: np.ndarray) -> bytes:
    write_vectors(path, words, matrix)
    return path.read_bytes()


# --- what is written comes back


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(data=st.data(), words=word_lists)
def test_round_trip(tmp_path_factory, suffix, data, words):
    columns = data.draw(st.integers(1, 4))
    matrix = data.draw(arrays(np.float32, (len(words), columns)))
    path = tmp_path_factory.getbasetemp() / f"vectors{suffix}"
    write_vectors(path, words, matrix)
    back = read_vectors(path)
    assert back.words == words
    assert bits(back.matrix) == bits(matrix)
    assert back.matrix.dtype == np.float32
    assert back.matrix.flags.c_contiguous


def every_exponent() -> np.ndarray:
    """Random bit patterns; the first and last number of each exponent, zeros and denormals too."""
    rng = np.random.default_rng(0)
    exponents = np.arange(512, dtype=np.uint32) << 23
    mantissas = np.array([0, 1, 2, 0x7FFFFE, 0x7FFFFF], np.uint32)
    edges = (exponents[:, None] + mantissas).ravel()
    random = rng.integers(0, 1 << 32, 300_000 - len(edges), np.uint32)
    return np.concatenate([edges, random]).view(np.float32).reshape(-1, 100)


def test_text_restores_every_float32(tmp_path):
    matrix = every_exponent()
    words = [str(row) for row in range(len(matrix))]
    text = written(tmp_path / "all.txt", words, matrix)
    assert bits(read_vectors(tmp_path / "all.txt").matrix) == bits(matrix)
    fields = np.array([line.split()[1:] for line in text.decode().splitlines()[1:]])
    with np.errstate(over="ignore"):
        assert bits(fields.astype(np.float64).astype(np.float32)) == bits(matrix)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "-0"),
        (0.5, "0.5"),
        (-1.25, "-1.25"),
        (100.0, "100"),
        (16777216.0, "16777216"),
        (1e9, "1e+09"),
        (0.1, "0.100000001"),
        (2.0**-16, "1.52587891e-05"),
        (1e-45, "1.40129846e-45"),
        (3.4028235e38, "3.40282347e+38"),
        (np.inf, "inf"),
        (-np.inf, "-inf"),
        (np.nan, "nan"),
    ],
)
def test_text_of_a_number(tmp_path, value, text):
    data = written(tmp_path / "v.txt", ["w"], np.array([[value]], np.float32))
    assert data == f"1 1\nw {text}\n".encode()


def beside_a_midpoint(pattern: int, steps: int) -> str:
    """Return a float64 that lies `steps` units from half-way between two float32."""
    low, high = np.array([pattern, pattern + 1], np.uint32).view(np.float32).astype(np.float64)
    middle = np.array([(low + high) / 2]).view(np.int64) + steps
    return repr(float(middle.view(np.float64)[0]))


numbers = st.one_of(
    st.floats(width=64).map(repr),
    st.floats(-10, 10).map(lambda x: f"{x:.18e}"),
    st.floats(-10, 10).map(lambda x: f"{x:.25f}"),
    st.from_regex(
        r"[+-]?([0-9]{1,25}\.?[0-9]{0,25}|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?", fullmatch=True
    ),
    st.sampled_from(["16777217", "16777219", "1e39", "-1e-60", "0e500", "Infinity", "NaN", "+1."]),
)


def read_numbers(path: Path, tokens: list[str]) -> list[list[int]]:
    put(path, f"1 {len(tokens)}\nw {' '.join(tokens)}\n".encode())
    return bits(read_vectors(path).matrix)


def rounded_twice(tokens: list[str]) -> list[list[int]]:
    with np.errstate(over="ignore"):
        return bits(np.array([[float(token) for token in tokens]]).astype(np.float32))


@given(tokens=st.lists(numbers, min_size=1, max_size=20))
def test_numbers_are_read_as_float64_then_rounded(tmp_path_factory, tokens):
    path = tmp_path_factory.getbasetemp() / "numbers.txt"
    assert read_numbers(path, tokens) == rounded_twice(tokens)


def test_numbers_near_a_midpoint_are_rounded_exactly(tmp_path):
    rng = np.random.default_rng(1)
    patterns = rng.integers(1, 0x7F000000, 5000).tolist()
    tokens = [beside_a_midpoint(p, steps) for p in patterns for steps in (-1, 0, 1)]
    assert read_numbers(tmp_path / "v.txt", tokens) == rounded_twice(tokens)


def test_binary_is_words_and_floats(tmp_path):
    data = written(tmp_path / "v.bin", ["a", "é"], np.array([[1, 2], [3, 4]], np.float32))
    assert data == (
        b"2 2\na \x00\x00\x80?\x00\x00\x00@" + "é ".encode() + b"\x00\x00@@\x00\x00\x80@"
    )


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("shape", [(3, 400_000), (90_000, 3)])
def test_more_than_a_block(tmp_path, suffix, shape):
    matrix = np.tile(np.arange(shape[0], dtype=np.float32)[:, None], shape[1])
    words = [f"word{row}" for row in range(shape[0])]
    write_vectors(tmp_path / f"v{suffix}", words, matrix)
    back = read_vectors(tmp_path / f"v{suffix}")
    assert back.words == words
    assert np.array_equal(back.matrix, matrix)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_long_words(tmp_path, suffix):
    words = ["a" * 5_000_000, "b"]
    write_vectors(tmp_path / f"v{suffix}", words, matrix_for(words))
    assert read_vectors(tmp_path / f"v{suffix}").words == words


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_layout_is_written(tmp_path, suffix):
    matrix = matrix_for(WORDS, 6)
    view = np.asfortranarray(matrix)[:, ::2]
    view.flags.writeable = False
    write_vectors(tmp_path / f"v{suffix}", WORDS, view)
    assert np.array_equal(read_vectors(tmp_path / f"v{suffix}").matrix, matrix[:, ::2])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_limit_reads_the_first(tmp_path, suffix):
    matrix = matrix_for(WORDS)
    path = tmp_path / f"v{suffix}"
    write_vectors(path, WORDS, matrix)
    first = read_vectors(path, limit=2)
    assert first.words == WORDS[:2]
    assert np.array_equal(first.matrix, matrix[:2])
    assert read_vectors(path, limit=100).words == WORDS
    with pytest.raises(OptionError) as error:
        read_vectors(path, limit=0)
    assert_one_line(error, "--limit", "0")


@pytest.mark.parametrize("suffix", [".bin", ".txt"])
def test_the_format_of_another_suffix_follows_from_the_content(tmp_path, suffix):
    matrix = matrix_for(WORDS)
    write_vectors(tmp_path / f"v{suffix}", WORDS, matrix)
    (tmp_path / f"v{suffix}").rename(tmp_path / "vectors")
    back = read_vectors(tmp_path / "vectors")
    assert back.words == WORDS
    assert np.array_equal(back.matrix, matrix)


# --- Gensim


@pytest.fixture(scope="module")
def keyed_class():
    return pytest.importorskip("gensim.models").KeyedVectors


@pytest.mark.parametrize("suffix", [".bin", ".txt"])
def test_gensim_reads_what_is_written(tmp_path, keyed_class, suffix):
    matrix = every_exponent()[: len(WORDS), :7]
    path = tmp_path / f"v{suffix}"
    write_vectors(path, WORDS, matrix)
    keyed = keyed_class.load_word2vec_format(str(path), binary=suffix == ".bin")
    assert keyed.index_to_key == WORDS
    assert bits(keyed.vectors) == bits(matrix)


@pytest.mark.parametrize("suffix", [".bin", ".txt"])
def test_gensim_files_are_read(tmp_path, suffix):
    vectors = Vectors(WORDS, every_exponent()[: len(WORDS), :7])
    path = tmp_path / f"v{suffix}"
    to_keyed_vectors(vectors).save_word2vec_format(str(path), binary=suffix == ".bin")
    back = read_vectors(path)
    assert back.words == WORDS
    assert bits(back.matrix) == bits(vectors.matrix)


def test_binary_is_gensims_byte_for_byte(tmp_path):
    vectors = Vectors(WORDS, matrix_for(WORDS))
    to_keyed_vectors(vectors).save_word2vec_format(str(tmp_path / "theirs"), binary=True)
    ours = written(tmp_path / "ours.bin", vectors.words, vectors.matrix)
    assert ours == (tmp_path / "theirs").read_bytes()


def test_keyed_vectors_and_back():
    vectors = Vectors(WORDS, matrix_for(WORDS))
    back = from_keyed_vectors(to_keyed_vectors(vectors))
    assert back.words == WORDS
    assert np.array_equal(back.matrix, vectors.matrix)


# --- files of other programs


def test_binary_with_line_ends_after_records(tmp_path):
    """word2vec's own C program ends each record with one."""
    matrix = matrix_for(["a", "b"])
    data = b"2 3\na %b\nb %b\n" % (matrix[0].tobytes(), matrix[1].tobytes())
    back = read_vectors(put(tmp_path / "c.bin", data))
    assert back.words == ["a", "b"]
    assert np.array_equal(back.matrix, matrix)


@pytest.mark.parametrize(
    "text",
    [
        "2 2\r\na 1 2\r\nb 3 4\r\n",
        "2 2\na 1 2 \nb 3 4 \t \n\n \n",
        "2\t2\na\t1\t2\nb  3  4\n",
        "2 2\na +1.0 2e0\nb 3.000000000000000000000000 .4E1\n",
    ],
)
def test_text_of_other_programs(tmp_path, text):
    back = read_vectors(put(tmp_path / "v.txt", text.encode()))
    assert back.words == ["a", "b"]
    assert back.matrix.tolist() == [[1, 2], [3, 4]]


def test_words_with_spaces_are_read(tmp_path):
    text = "3 2\nin 2008 1 2\n. . . 3 4\nplain 5 6\n"
    back = read_vectors(put(tmp_path / "v.txt", text.encode()))
    assert back.words == ["in 2008", ". . .", "plain"]
    assert back.matrix.tolist() == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize("suffix", [".bin", ".txt"])
def test_the_first_of_duplicates_is_kept(tmp_path, suffix):
    numbers = [np.float32(x).tobytes() if suffix == ".bin" else b"%d\n" % x for x in range(4)]
    records = b"".join(w + b" " + x for w, x in zip([b"a", b"b", b"a", b"a"], numbers, strict=True))
    back = read_vectors(put(tmp_path / f"v{suffix}", b"4 1\n" + records))
    assert back.words == ["a", "b"]
    assert back.index == {"a": 0, "b": 1}
    assert back.matrix.tolist() == [[0], [1]]
    assert back.duplicates == 2


# --- false files


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("told", [True, False], ids=["by-suffix", "by-content"])
def test_a_truncated_file_is_rejected(tmp_path, suffix, told):
    words = ["ab", "é", "c"]
    data = written(
        tmp_path / f"whole{suffix}", words, np.array([[1.5, 22], [3, 44], [5, 66]], np.float32)
    )
    path = tmp_path / (f"cut{suffix}" if told else "cut")
    for length in range(len(data)):
        with pytest.raises(FormatError) as error:
            read_vectors(put(path, data[:length]))
        assert_one_line(error, path)


@pytest.mark.parametrize(
    ("header", "parts"),
    [
        ("", ["first line"]),
        ("2", ["first line", "'2'"]),
        ("2 2 2", ["first line", "'2 2 2'"]),
        ("two 2", ["first line", "'two 2'"]),
        ("2.0 2", ["first line"]),
        ("-2 2", ["first line"]),
        ("2 -2", ["first line"]),
        ("1_0 2", ["first line"]),
        ("٢ 2", ["first line"]),
        ("9" * 19 + " 2", ["first line"]),
        ("9" * 300, ["no line break"]),
        ("0 2", ["at least 1", "0 words of 2 numbers"]),
        ("2 0", ["at least 1", "2 words of 0 numbers"]),
        ("1000000000 10000", ["declares 1,000,000,000 words of 10,000 numbers", "bytes"]),
        ("999999999999999999 999999999999999999", ["declares"]),
        ("3 2", ["declares 3 words"]),
        ("1 2", ["has data after"]),
        ("2 1", []),
        ("2 3", []),
    ],
)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_inconsistent_header_is_rejected(tmp_path, suffix, header, parts):
    words = ["word", "other"]
    path = tmp_path / f"v{suffix}"
    data = written(path, words, matrix_for(words, 2))
    put(path, header.encode() + data[3:])
    with pytest.raises(FormatError) as error:
        read_vectors(path)
    assert_one_line(error, path, *parts)


@pytest.mark.parametrize("name", ["v.bin", "v.txt", "v"])
def test_nothing_is_allocated_for_an_inconsistent_header(tmp_path, name):
    path = put(tmp_path / name, b"1000000000 10000\n" + b"word 1 2 3 4\n" * 1000)
    tracemalloc.start()
    start = time.perf_counter()
    with pytest.raises(FormatError):
        read_vectors(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert time.perf_counter() - start < 0.5
    assert peak < 8 << 20


def test_the_unknown_word_that_glove_adds_to_its_header_is_left_out(tmp_path):
    text = b"2 2\na 1 2\nb 3 4\n<unk> 0.5 0.5\n"
    found = read_vectors(put(tmp_path / "v.txt", text))
    assert found.words == ["a", "b"]
    np.testing.assert_array_equal(found.matrix, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("2 2\na 1 2\nb 3.25\n", ["line 3", "a word and 2 numbers", "2 fields"]),
        ("2 2\na 1 2\n 3 4  \n", ["line 3", "2 fields"]),
        ("2 2\na 1 2\n\nb 3 4\n", ["line 3", "0 fields"]),
        ("2 2\na 1 2\nb x 4\n", ["line 3", "'x'"]),
        ("2 2\na 1 2\nb 1_0 4\n", ["line 3", "'1_0'"]),
        ("2 2\na 1 2\nb 1.2.3 4\n", ["line 3", "'1.2.3'"]),
        ("2 2\na 1 2\nb 1e 4\n", ["line 3", "'1e'"]),
        ("2 2\na 1 2\nb - 4\n", ["line 3", "'-'"]),
        ("2 2\na 1 2\nb ٣ 4\n", ["line 3", "'٣'"]),
        (
            "2 2\na 1 2\nb 3 44",
            ["truncated", "1 complete lines", "without a line break", "if it is complete"],
        ),
        ("2 2\na 1 2\nb 3 4\nc 5 6\n", ["has data after the 2 words", "'c 5 6'"]),
        ("2 2\na 1 2\nb 3 4\n<unk> 5\n", ["has data after the 2 words", "'<unk> 5'"]),
        ("2 2\na 1 2\nb 3 4\n<unk> 5 6\nc 5 6", ["has data after the 2 words", "'c 5 6'"]),
        ("2 2\na 1 2 3\nb 4 5 6\n", ["more than the 2 numbers", "'1'"]),
    ],
)
def test_invalid_lines_are_rejected(tmp_path, text, parts):
    path = put(tmp_path / "v.txt", text.encode())
    with pytest.raises(FormatError) as error:
        read_vectors(path)
    assert_one_line(error, path, *parts)


@pytest.mark.parametrize(
    ("name", "data", "parts"),
    [
        ("v.bin", b"2 1\na \0\0\0\0\xff\xfe \0\0\0\0", ["word 2", "byte 10", "UTF-8"]),
        ("v.txt", b"2 1\na 1\n\xff\xfe 2\n", ["word 2", "byte 8", "UTF-8"]),
        ("v.bin", b"2 1\na \0\0\0\0 \0\0\0\0b", ["word 2", "byte 10", "empty"]),
        ("v.bin", b"1 1\na \0\0\0\0b", ["has data after", "1 more byte"]),
        ("v.bin", b"2 2\na 1 2\nb 3.25 4.25\n", ["contains text", "rename"]),
        ("v.txt", b"1 2\na \0\0\0\0\0\0\0\0", ["contains binary", "rename"]),
        ("v.txt", b"", ["is empty"]),
    ],
)
def test_invalid_contents_are_rejected(tmp_path, name, data, parts):
    path = put(tmp_path / name, data)
    with pytest.raises(FormatError) as error:
        read_vectors(path)
    assert_one_line(error, path, *parts)


def test_a_path_that_is_not_a_file_is_rejected(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    expected = {"none.bin": "no such file", ".": "a directory", "pipe.txt": "a device or pipe"}
    for name, part in expected.items():
        with pytest.raises(MissingInputError) as error:
            read_vectors(tmp_path / name)
        assert_one_line(error, tmp_path / name, part)


# --- words and shapes that cannot be written


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("space", [" ", "\u00a0", "\n", "\r", "\t", "\u2028", "\x1c", "\u3000"])
def test_white_space_is_rejected_or_replaced(tmp_path, suffix, space):
    words, matrix = ["plain", f"new{space}york"], matrix_for(["plain", "new york"])
    path = tmp_path / f"v{suffix}"
    with pytest.raises(InputError) as error:
        write_vectors(path, words, matrix)
    assert_one_line(error, path, "word 2", repr(words[1]), "--space _")
    assert list(tmp_path.iterdir()) == []
    write_vectors(path, words, matrix, space="_")
    assert read_vectors(path).words == ["plain", "new_york"]


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (["a", ""], ["word 2", "empty"]),
        (["a", "a"], ["words 1 and 2", "'a'"]),
        (["x y", "x_y"], ["words 1 and 2", "'x_y'", "--space"]),
        (["a", "\ud800"], ["word 2", "UTF-8"]),
        (["a"], ["1 words", "found 2"]),
    ],
)
def test_words_that_cannot_be_written(tmp_path, words, parts):
    with pytest.raises(InputError) as error:
        write_vectors(tmp_path / "v.bin", words, np.zeros((2, 2), np.float32), space="_")
    assert_one_line(error, *parts)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("matrix", [np.zeros(2), np.zeros((2, 2)), np.zeros((2, 2, 2), np.float32)])
def test_only_a_float32_matrix_is_written(tmp_path, matrix):
    with pytest.raises(InputError) as error:
        write_vectors(tmp_path / "v.bin", ["a", "b"], matrix)
    assert_one_line(error, "matrix of float32", f"{matrix.ndim} axes of {matrix.dtype}")


@pytest.mark.parametrize("shape", [(0, 3), (2, 0)])
def test_nothing_is_not_written(tmp_path, shape):
    with pytest.raises(InputError) as error:
        write_vectors(tmp_path / "v.bin", ["a", "b"][: shape[0]], np.zeros(shape, np.float32))
    assert_one_line(error, "no numbers", f"{shape[0]} × {shape[1]}")


@pytest.mark.parametrize("space", ["", " ", "a b", "\u00a0"])
def test_a_replacement_is_no_white_space(tmp_path, space):
    with pytest.raises(OptionError) as error:
        write_vectors(tmp_path / "v.bin", ["a"], np.zeros((1, 1), np.float32), space=space)
    assert_one_line(error, "--space", repr(space))


@pytest.mark.parametrize("name", ["vectors", "v.npy", "v.bin.gz"])
def test_another_suffix_is_not_written(tmp_path, name):
    with pytest.raises(OptionError) as error:
        write_vectors(tmp_path / name, ["a"], np.zeros((1, 1), np.float32))
    assert_one_line(error, tmp_path / name, ".bin, .txt or .vec")


def test_a_failed_write_keeps_the_old_file(tmp_path):
    write_vectors(tmp_path / "v.txt", ["a"], np.ones((1, 1), np.float32))
    with pytest.raises(InputError):
        write_vectors(tmp_path / "v.txt", ["a b"], np.zeros((1, 1), np.float32))
    assert read_vectors(tmp_path / "v.txt").matrix.tolist() == [[1]]


def test_vectors_need_a_word_each():
    with pytest.raises(InputError) as error:
        Vectors(["a"], np.zeros((2, 2), np.float32))
    assert_one_line(error, "1 words need as many vectors", "found 2")
