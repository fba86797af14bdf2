"""Matrices in other programs' formats: these programs load them, and they round-trip exactly."""

from __future__ import annotations

import gzip
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from corpora import assert_one_line, build, put
from hypothesis import given, settings
from hypothesis import strategies as st
from matrices import random_counts
from running import Done, build_pmi, convert

import wordgeom as wg
from wordgeom.cli import main
from wordgeom.core.errors import (
    FormatError,
    InputError,
    MissingInputError,
    OptionError,
    OutputExistsError,
    WordgeomError,
)
from wordgeom.formats import row_grouping
from wordgeom.formats.word_files import read_words
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.runtime.run_options import RunOptions
from wordgeom.storage.store import StoreWriter
from wordgeom.weighting.options import PmiOptions

NAMES = ["m.npz", "m.mtx", "m.mtx.gz", "m.glove"]
TEXT = "the cat sat on the mat\nthe naïve dog saw the cat\na dog and a cat on a mat\n" * 2
RECORD = np.dtype([("row", "<i4"), ("column", "<i4"), ("value", "<f8")])


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Harmonic counts in units of 1/60."""
    folder = tmp_path_factory.mktemp("counts")
    build(put(folder, TEXT), folder / "cooc", window=5)
    return folder / "cooc"


@pytest.fixture(scope="module")
def one_sided(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sided")
    build(put(folder, TEXT), folder / "cooc", window=5, context="right")
    return folder / "cooc"


@pytest.fixture(scope="module")
def pmi(counts: Path) -> Path:
    build_pmi(counts, counts.parent / "pmi", PmiOptions(weighting="pmi"), RunOptions())
    return counts.parent / "pmi"


def load(path: Path, words: int) -> np.ndarray:
    """The matrix as another program loads it."""
    if path.suffix == ".npz":
        return scipy.sparse.load_npz(path).toarray()
    if path.suffix == ".glove":
        records = np.fromfile(path, RECORD)
        dense = np.zeros((words, words))
        np.add.at(dense, (records["row"] - 1, records["column"] - 1), records["value"])
        assert np.count_nonzero(dense) == len(records)
        return dense
    return scipy.io.mmread(path).toarray()


def words_of(path: Path) -> Path:
    return path.with_name("m.vocab.txt" if path.suffix == ".glove" else "m.words.txt")


def take(source: Path, target: Path, **values: Any) -> StoredMatrix:
    convert(source, target, **values)
    return StoredMatrix.open(target)


def entries(path: Path, rows: list[int], columns: list[int], values: Sequence[float]) -> Path:
    """Write GloVe records and a words file."""
    records = np.empty(len(rows), RECORD)
    records["row"], records["column"], records["value"] = rows, columns, values
    records.tofile(path)
    (path.parent / "vocab.txt").write_text("a 7\nb 5\nc 1\n")
    return path


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("made", ["counts", "one_sided", "pmi"])
def test_other_programs_load_the_matrix_and_import_restores_the_digest(
    tmp_path, request, name, made
):
    store = request.getfixturevalue(made)
    before, path = StoredMatrix.open(store), tmp_path / name
    convert(store, path)
    whole = before.to_scipy().toarray()
    loaded = load(path, len(whole)).astype(whole.dtype)
    np.testing.assert_array_equal(loaded, whole)
    after = take(path, tmp_path / "back")
    assert after.store.digest == before.store.digest
    assert after.vocabulary.words == before.vocabulary.words


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("made", ["counts", "one_sided", "pmi"])
def test_import_without_a_run_card_restores_the_content(tmp_path, request, name, made):
    store = request.getfixturevalue(made)
    before, path = StoredMatrix.open(store), tmp_path / name
    convert(store, path)
    path.with_name(f"{name}.json").unlink()
    after = take(path, tmp_path / "back", kind="pmi" if made == "pmi" else "cooc")
    assert after.symmetric == before.symmetric
    assert after.denominator == before.denominator
    for part in before.store.parts():
        np.testing.assert_array_equal(
            after.store.array(part).read(), before.store.array(part).read()
        )


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_every_scipy_layout_is_read(tmp_path, kind, symmetric):
    full = random_counts(np.random.default_rng(1), 9, symmetric=symmetric)
    scipy.sparse.save_npz(tmp_path / "m.npz", scipy.sparse.coo_array(full).asformat(kind))
    (tmp_path / "m.words.txt").write_text("".join(f"w{k}\n" for k in range(9)))
    made = take(tmp_path / "m.npz", tmp_path / "back")
    assert made.symmetric == symmetric
    np.testing.assert_array_equal(made.to_scipy().toarray(), full)
    np.testing.assert_array_equal(made.vocabulary.counts, full.sum(1))
    np.testing.assert_array_equal(made.sums("column"), full.sum(0))


@settings(max_examples=20)
@given(data=st.data())
def test_entries_in_any_order_are_summed(tmp_path_factory, data):
    """Chunks of a few entries, so that many partial matrices are merged."""
    place = st.integers(1, 3)
    listed = data.draw(st.lists(st.tuples(place, place, st.integers(0, 40)), min_size=1))
    denominator = data.draw(st.sampled_from([1, 5, 60, 2520]))
    folder = tmp_path_factory.mktemp("any")
    rows, columns, units = map(list, zip(*listed, strict=True))
    path = entries(folder / "m.glove", rows, columns, [u / denominator for u in units])
    full = np.zeros((3, 3), np.int64)
    np.add.at(full, (np.array(rows) - 1, np.array(columns) - 1), units)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_grouping, "CHUNK", data.draw(st.integers(1, 5)))
        patch.setattr(row_grouping, "_MAX_PARTS", 2)
        if not full.any():
            with pytest.raises(InputError, match="no entry other than 0"):
                convert(path, folder / "back")
            return
        made = take(path, folder / "back")
    assert denominator % made.denominator == 0
    np.testing.assert_array_equal(made.to_scipy().toarray(), full / denominator)
    assert made.symmetric == (full == full.T).all()
    np.testing.assert_array_equal(made.sums("row") * denominator, full.sum(1) * made.denominator)


def test_notes_report_changed_and_ignored_entries(tmp_path):
    path = entries(tmp_path / "m.glove", [1, 1, 2, 3], [2, 2, 1, 3], [1.0, 0.5, 1.0, 0.0])
    (tmp_path / "w").write_text("a\nb\nc\n")
    notes = "\n".join(convert(path, tmp_path / "back", words=str(tmp_path / "w")).notes)
    for part in ("1 repeated entry", "1 entry is 0", "row sums", "is asymmetric"):
        assert part in notes


def test_floating_point_sums_are_rounded_to_units(tmp_path):
    """GloVe sums 1/distance in floating point: ten times 0.1 is not 1."""
    value = sum([0.1] * 10) + sum([1 / 3] * 7)
    path = entries(tmp_path / "m.glove", [1, 2], [2, 1], [value, value + 4e-16])
    made: Done = convert(path, tmp_path / "back")
    assert made.store is not None
    assert made.store.attributes["denominator"] == 3
    assert made.store.attributes["triangle"] == "upper"
    assert any("rounded to multiples of 1/3" in note for note in made.notes)


def test_other_values_use_fixed_point_unless_too_small(tmp_path):
    path = entries(tmp_path / "m.glove", [1, 2, 3], [2, 1, 3], [math.pi, math.pi, math.e])
    made = take(path, tmp_path / "back")
    assert made.denominator == 1 << 32
    np.testing.assert_allclose(made.to_scipy().toarray()[0, 1], math.pi, rtol=1e-9)
    entries(path, [1, 2, 3], [2, 1, 3], [math.pi, math.pi, 1e-7])
    with pytest.raises(InputError) as caught:
        convert(path, tmp_path / "other")
    assert_one_line(caught, path, "too small", "--kind pmi")


@pytest.mark.parametrize(
    ("rows", "values", "parts"),
    [
        ([1, 2], [1, -1], ["a count is negative", "-1 in row 2, column 1", "--kind pmi"]),
        ([1, 2], [1, np.nan], ["not finite", "nan in row 2"]),
        ([1, 2], [np.inf, 1], ["not finite", "inf in row 1"]),
        ([1, 0], [1, 1], ["record 2 has a row not between 1 and 3", "found 0"]),
        ([1, 4], [1, 1], ["record 2", "--words"]),
        ([1, 2], [1e300, 1], ["too large"]),
        ([1, 2], [2.0**40, math.pi], ["too large to store in units of 1/4294967296"]),
        ([1, 1], [0, 0], ["no entry other than 0"]),
    ],
)
def test_invalid_counts_are_rejected_and_nothing_is_written(tmp_path, rows, values, parts):
    path = entries(tmp_path / "m.glove", rows, [1, 1], values)
    with pytest.raises(WordgeomError) as caught:
        convert(path, tmp_path / "back")
    assert_one_line(caught, path, *parts)
    assert not (tmp_path / "back").exists()


def test_weights_may_be_any_finite_number_but_not_repeat(tmp_path):
    path = entries(tmp_path / "m.glove", [1, 2, 3], [2, 1, 3], [-1.5, -1.5, 1e-30])
    made = take(path, tmp_path / "back", kind="pmi")
    full = np.zeros((3, 3), np.float32)
    full[[0, 1, 2], [1, 0, 2]] = -1.5, -1.5, 1e-30
    np.testing.assert_array_equal(made.to_scipy().toarray(), full)
    assert made.symmetric
    for values, part in (
        ([1, 1, 1], "must not repeat"),
        ([1, 1, 1e39], "not finite in float32"),
    ):
        entries(path, [1, 1, 3], [2, 2, 3], values)
        with pytest.raises(InputError, match=part):
            convert(path, tmp_path / "other", kind="pmi")


def test_training_on_reimported_counts_gives_the_same_bytes(counts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    convert(counts, "m.mtx")
    Path("m.mtx.json").unlink()
    assert main(["convert", "m.mtx", "back", "--quiet"]) == 0
    for name, folder in (("a.bin", str(counts)), ("b.bin", "back")):
        train = ["train", folder, "--method", "pmi-eigs", "--dim", "3", "-o", name, "--quiet"]
        assert main(train) == 0
    assert Path("a.bin").read_bytes() == Path("b.bin").read_bytes()


def test_a_second_conversion_is_up_to_date_or_rejected(counts, tmp_path):
    path, back = tmp_path / "m.npz", tmp_path / "back"
    convert(counts, path)
    assert "up to date" in convert(counts, path).summary
    with pytest.raises(OutputExistsError, match=r"m\.npz: exists"):
        convert(counts, path, words=str(tmp_path / "other.txt"))
    convert(path, back)
    assert "up to date" in convert(path, back).summary
    (tmp_path / "m.words.txt").write_text("".join(f"w{k}\t1\n" for k in range(99)))
    with pytest.raises(OutputExistsError, match="made from other files"):
        convert(path, back)


def test_a_rejected_export_leaves_existing_files(counts, tmp_path):
    path = tmp_path / "m.npz"
    (tmp_path / "m.words.txt").write_text("mine\n")
    with pytest.raises(OutputExistsError, match=r"m\.words\.txt"):
        convert(counts, path)
    assert [p.name for p in tmp_path.iterdir()] == ["m.words.txt"]


@pytest.mark.parametrize("name", NAMES)
def test_two_exports_to_one_directory_are_both_importable(counts, tmp_path, name):
    build(put(tmp_path, "x y z x y\n" * 3), tmp_path / "other")
    for store, stem in ((counts, "m"), (tmp_path / "other", "n")):
        convert(store, tmp_path / name.replace("m.", f"{stem}."))
    assert words_of(tmp_path / name).exists()
    for store, stem in ((counts, "m"), (tmp_path / "other", "n")):
        made = take(tmp_path / name.replace("m.", f"{stem}.", 1), tmp_path / f"back {stem}")
        assert made.store.digest == StoredMatrix.open(store).store.digest


def test_vocab_txt_is_the_fallback_words_file_of_glove(tmp_path):
    path = entries(tmp_path / "m.glove", [1, 2], [2, 1], [1, 1])
    assert take(path, tmp_path / "back").vocabulary.words == ["a", "b", "c"]
    (tmp_path / "m.vocab.txt").write_text("x 7\ny 5\nz 1\n")
    assert take(path, tmp_path / "ours").vocabulary.words == ["x", "y", "z"]


@pytest.mark.parametrize("name", NAMES)
def test_a_run_card_that_does_not_match_the_words_is_ignored_with_a_note(counts, tmp_path, name):
    path, before = tmp_path / name, StoredMatrix.open(counts)
    convert(counts, path)
    assert convert(path, tmp_path / "back").notes == []
    lines = words_of(path).read_text(encoding="utf-8").splitlines()
    words_of(path).write_text("\n".join(["new" + lines[0], *lines[1:]]), encoding="utf-8")
    made = convert(path, tmp_path / "again")
    assert f"{name}.json does not match the words in" in made.notes[0]
    assert StoredMatrix.open(tmp_path / "again").store.digest != before.store.digest


@pytest.mark.parametrize("unit", ["Infinity", "1e400", "0", '"60"', f"{10**400}", "[]"])
def test_a_run_card_with_an_invalid_unit_is_ignored_with_a_note(counts, tmp_path, unit):
    path = tmp_path / "m.npz"
    convert(counts, path)
    card = tmp_path / "m.npz.json"
    text = card.read_text().replace('"denominator": 60', f'"denominator": {unit}')
    card.write_text(text)
    made = convert(path, tmp_path / "back")
    assert "m.npz.json does not match m.npz" in made.notes[0]
    assert StoredMatrix.open(tmp_path / "back").denominator == 60


def test_the_run_card_of_a_truncated_file_is_ignored(counts, tmp_path):
    path = tmp_path / "m.glove"
    convert(counts, path)
    path.write_bytes(path.read_bytes()[:32])
    made = convert(path, tmp_path / "back")
    assert "m.glove.json does not match m.glove" in made.notes[0]
    assert StoredMatrix.open(tmp_path / "back").denominator != 60


def test_files_with_one_stem_share_a_words_file_only_if_it_is_identical(counts, tmp_path):
    convert(counts, tmp_path / "m.npz")
    convert(counts, tmp_path / "m.mtx")
    build(put(tmp_path, "x y z x y\n"), tmp_path / "other")
    with pytest.raises(OutputExistsError, match=r"m\.words\.txt: belongs to m\.mtx too"):
        convert(tmp_path / "other", tmp_path / "m.mtx.gz")
    assert not (tmp_path / "m.mtx.gz").exists()


@pytest.mark.parametrize(
    ("content", "words", "counts"),
    [
        ("a\t3\nb c\t2\n", ["a", "b c"], [3, 2]),
        ("a 3\nb 2", ["a", "b"], [3, 2]),
        ("\ufeffa\r\nb c\r\n", ["a", "b c"], None),
        ("a 3\nb\n", ["a 3", "b"], None),
    ],
)
def test_words_are_read_with_counts_or_without(tmp_path, content, words, counts):
    path = tmp_path / "w.txt"
    path.write_bytes(content.encode())
    found = read_words(path)
    assert found.words == words
    assert (None if found.counts is None else found.counts.tolist()) == counts


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "contains no words"),
        (b"a\n\nb\n", "line 2: empty word"),
        (b"a\nb\na\n", "line 3: repeated word 'a'"),
        (b"a\t1\nb\n", "line 2: expected a count after the word"),
        (b"a\t1\nb\t1.5\n", "line 2: expected a count after the word, found '1.5'"),
        (b"a\n\xff\n", "at byte 2: not UTF-8"),
    ],
)
def test_a_broken_words_file_is_rejected(tmp_path, content, part):
    (tmp_path / "w.txt").write_bytes(content)
    with pytest.raises(WordgeomError) as caught:
        read_words(tmp_path / "w.txt")
    assert_one_line(caught, tmp_path / "w.txt", part)


def test_every_conversion_error_is_one_line(counts, tmp_path):
    npz, words = tmp_path / "m.npz", tmp_path / "m.words.txt"
    convert(counts, npz)
    (tmp_path / "state").mkdir()
    with StoreWriter(tmp_path / "other", "state") as writer:
        writer.commit({}, {})
    dense = tmp_path / "d.npz"
    np.savez(dense, x=np.ones((3, 3)))
    cases: list[tuple[type[WordgeomError], Path, str, dict[str, Any], str]] = [
        (OptionError, counts, "x.csv", {}, ".npz, .mtx or .glove"),
        (
            OptionError,
            counts,
            "y.npz",
            {"words": str(tmp_path / "y.npz")},
            "--words is the same file as the output",
        ),
        (
            OptionError,
            counts,
            "y.npz",
            {"words": str(tmp_path / "y.npz.json")},
            "the output's run card",
        ),
        (OptionError, counts, "y.npz", {"limit": 3}, "--limit does not apply to a matrix"),
        (OptionError, npz, "x", {"float16": True}, "--float16 does not apply to a matrix"),
        (OptionError, tmp_path / "m.mtx", "x.npz", {}, "is imported into a directory"),
        (MissingInputError, tmp_path / "none", "x.npz", {}, "no such file or directory"),
        (MissingInputError, counts, "no/x.npz", {}, "no such"),
        (FormatError, tmp_path / "state", "x.npz", {}, "meta.json"),
        (MissingInputError, tmp_path / "other", "x.npz", {}, "is a checkpoint"),
        (MissingInputError, dense, "x", {}, "d.words.txt: no such words file"),
        (InputError, dense, "x", {"words": str(words)}, "not a SciPy sparse matrix"),
    ]
    (tmp_path / "m.mtx").write_text("%%MatrixMarket matrix coordinate real general\n1 1 0\n")
    for error, source, target, values, part in cases:
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(error) as caught:
            convert(source, tmp_path / target, **values)
        assert_one_line(caught, part)
        assert sorted(tmp_path.rglob("*")) == before
    with pytest.raises(OptionError, match=r"did you mean words\?"):
        wg.convert(npz, tmp_path / "x", wrods="w")
    words.write_text("a\nb\n")
    with pytest.raises(InputError, match="a row and a column per word"):
        convert(npz, tmp_path / "x")


def test_a_truncated_glove_file_is_rejected(counts, tmp_path):
    path = tmp_path / "m.glove"
    convert(counts, path)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(FormatError) as caught:
        convert(path, tmp_path / "back")
    assert_one_line(caught, path, "not whole records of 16 bytes")


def test_a_broken_gzip_file_is_rejected(counts, tmp_path):
    path = tmp_path / "m.mtx.gz"
    convert(counts, path)
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()))[:-9])
    with pytest.raises(FormatError) as caught:
        convert(path, tmp_path / "back")
    assert_one_line(caught, path, "broken gzip file")
