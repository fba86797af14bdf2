"""Vectors in other programs' formats: words and numbers survive every conversion."""

from __future__ import annotations

import contextlib
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as st
from running import convert

from wordgeom.cli import main
from wordgeom.core.errors import (
    FormatError,
    InputError,
    LockedError,
    MissingInputError,
    OptionError,
    OutputExistsError,
    WordgeomError,
)
from wordgeom.storage import files
from wordgeom.vectors import finite, run_card
from wordgeom.vectors.keyed import Vectors, read_vectors, write_vectors

WORDS = ["the", "naïve", "東京", "a", "1.5"]
MATRIX = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)
GLOVE = "the 0.5 -1 2\n. . . 1e-3 0 4\n1 7 8 9.5\n"


def single(rows: list[list[float]]) -> np.ndarray:
    return np.array(rows, np.float32)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write_vectors(tmp_path / "v.bin", WORDS, MATRIX)
    return tmp_path / "v.bin"


@pytest.mark.parametrize("suffix", ["bin", "txt", "vec", "txt.gz", "vec.gz", "npy", "npz"])
def test_every_format_round_trips_bit_for_bit(source, tmp_path, suffix):
    name = f"w.{suffix}"
    assert convert(source, tmp_path / name).summary.endswith("5 × 4")
    back = convert(tmp_path / name, tmp_path / "back.bin").vectors
    assert back is not None
    assert back.words == WORDS
    assert (tmp_path / "back.bin").read_bytes() == source.read_bytes()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Gensim's own
@pytest.mark.parametrize("name", ["w.txt", "w.txt.gz"])
def test_gensim_reads_text_with_and_without_a_header(source, tmp_path, name):
    for bare in (False, True):
        convert(source, tmp_path / name, force=True, no_header=bare)
        keyed = KeyedVectors.load_word2vec_format(tmp_path / name, no_header=bare)
        assert keyed.index_to_key == WORDS
        np.testing.assert_array_equal(keyed.vectors, MATRIX)
        read = read_vectors(tmp_path / name)
        assert (read.words, read.matrix.tolist()) == (WORDS, MATRIX.tolist())


def test_numpy_reads_the_arrays_and_words_are_in_a_separate_file(source, tmp_path):
    convert(source, tmp_path / "w.npy", float16=True)
    convert(source, tmp_path / "x.npz", words=str(tmp_path / "names"))
    np.testing.assert_array_equal(np.load(tmp_path / "w.npy"), MATRIX.astype(np.float16))
    np.testing.assert_array_equal(np.load(tmp_path / "x.npz")["matrix"], MATRIX)
    for name in ("w.words.txt", "names"):
        assert (tmp_path / name).read_text(encoding="utf-8").splitlines() == WORDS


def test_equal_vectors_give_equal_bytes(source, tmp_path):
    for name in ("w.npz", "w.txt.gz"):
        convert(source, tmp_path / name)
        before = (tmp_path / name).read_bytes()
        convert(source, tmp_path / name, force=True)
        assert (tmp_path / name).read_bytes() == before


def test_a_projector_directory_from_an_archive_is_the_same(source, tmp_path):
    convert(source, tmp_path / "v.npz")
    for path, name in ((source, "one"), (tmp_path / "v.npz", "other")):
        convert(path, tmp_path / name, target_format="projector")
    for file in ("vectors.tsv", "metadata.tsv"):
        one, other = (tmp_path / name / file for name in ("one", "other"))
        assert one.read_bytes() == other.read_bytes()


def test_a_projector_directory_contains_numbers_and_words(source, tmp_path):
    folder = tmp_path / "p"
    convert(source, folder, target_format="projector")
    np.testing.assert_array_equal(
        np.loadtxt(folder / "vectors.tsv", np.float32, delimiter="\t"), MATRIX
    )
    assert (folder / "metadata.tsv").read_text(encoding="utf-8").splitlines() == WORDS
    with pytest.raises(OutputExistsError, match=r"vectors\.tsv: exists"):
        convert(source, folder, target_format="projector")
    convert(source, folder, target_format="projector", limit=2, force=True)
    assert len((folder / "metadata.tsv").read_text(encoding="utf-8").splitlines()) == 2
    (folder / "mine").write_text("")
    with pytest.raises(OutputExistsError, match="contains mine, so"):
        convert(source, folder, target_format="projector", force=True)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p", "v.bin"]


def test_chosen_words_keep_the_order_of_the_vectors(source, tmp_path):
    (tmp_path / "only").write_text("a\nzzz\nthe\n")
    made = convert(source, tmp_path / "w.bin", only=str(tmp_path / "only"))
    assert read_vectors(tmp_path / "w.bin").words == ["the", "a"]
    assert len(made.notes) == 1
    assert "1 of 3 words" in made.notes[0]
    assert "zzz" in made.notes[0]
    (tmp_path / "only").write_text("zzz\n")
    with pytest.raises(InputError, match=r"none of its \d+ words? has a vector"):
        convert(source, tmp_path / "x.bin", only=str(tmp_path / "only"))


def test_a_word_list_may_contain_blank_and_repeated_lines(source, tmp_path):
    (tmp_path / "only").write_text("\n  a\t\r\n\nthe\u3000\na\n \nthe\n")
    made = convert(source, tmp_path / "w.bin", only=str(tmp_path / "only"))
    assert read_vectors(tmp_path / "w.bin").words == ["the", "a"]
    assert made.notes == [f"2 lines of {tmp_path / 'only'} repeat a word and were ignored"]
    (tmp_path / "only").write_text(" \n\n")
    with pytest.raises(InputError, match="contains no words"):
        convert(source, tmp_path / "x.bin", only=str(tmp_path / "only"))


@pytest.mark.parametrize("name", ["w.npy", "w.vec", "w.bin", "w"])
def test_a_note_reports_nonfinite_vectors(tmp_path, monkeypatch, name):
    monkeypatch.setattr(finite, "_ROWS", 2)
    matrix = MATRIX.copy()
    matrix[[3, 4], [0, 2]] = np.nan, -np.inf
    write_vectors(tmp_path / "v.bin", WORDS, matrix)
    form = None if "." in name else "projector"
    notes = convert(tmp_path / "v.bin", tmp_path / name, target_format=form).notes
    line = f"{tmp_path / 'v.bin'}: 2 vectors contain NaN or infinity (first: 'a')"
    assert notes == [f"{line}; drop such vectors with wordgeom convert --drop-nan"]
    assert (
        convert(tmp_path / "v.bin", tmp_path / f"x{name}", target_format=form, limit=3).notes == []
    )


def test_arrays_with_one_stem_share_a_words_file_only_if_it_is_identical(source, tmp_path):
    convert(source, tmp_path / "w.npy")
    convert(tmp_path / "w.npy", tmp_path / "w.npz")
    (tmp_path / "w.npz").unlink()
    with pytest.raises(OutputExistsError, match=r"w\.words\.txt: belongs to w\.npy too"):
        convert(source, tmp_path / "w.npz", limit=2)
    assert not (tmp_path / "w.npz").exists()


@pytest.mark.parametrize("half", [False, True])
def test_an_array_is_written_as_numpy_writes_it(source, tmp_path, half):
    convert(source, tmp_path / "w.npy", float16=half)
    np.save(tmp_path / "numpys.npy", MATRIX.astype(np.float16) if half else MATRIX)
    assert (tmp_path / "w.npy").read_bytes() == (tmp_path / "numpys.npy").read_bytes()


@pytest.mark.parametrize("packed", [False, True])
def test_text_without_a_header_is_detected(tmp_path, packed):
    path = tmp_path / ("g.txt.gz" if packed else "g.txt")
    content = ("\ufeff" + GLOVE + " \n").encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    read = read_vectors(path)
    assert read.words == ["the", ". . .", "1"]
    assert read.matrix.tolist() == single([[0.5, -1, 2], [1e-3, 0, 4], [7, 8, 9.5]]).tolist()
    assert read_vectors(path, limit=1).words == ["the"]
    with pytest.raises(InputError, match=r"word 2, '\. \. \.', contains white space"):
        convert(path, tmp_path / "w.bin")
    made = convert(path, tmp_path / "w.bin", space="_").vectors
    assert made is not None
    assert made.words[1] == "._._."


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (GLOVE + "cut 1 2\n", "line 4 must have a word and 3 numbers, found 3 fields"),
        (GLOVE + "bad 1 x 3\n", "line 4 must have 3 numbers after its word, found 'x'"),
        (GLOVE + "\nb 1 2 3\n", "line 4 must have a word and 3 numbers, found 0 fields"),
        (GLOVE + "open 1 2 3", "truncated: its last line has no line break"),
        ("a " + "1.5 " * 999 + "\n" + "b\n" * 99, "implies 100 words of 999 numbers"),
    ],
)
def test_a_broken_line_of_text_is_named(tmp_path, content, part):
    (tmp_path / "g.txt").write_text(content)
    with pytest.raises(FormatError) as caught:
        read_vectors(tmp_path / "g.txt")
    assert_one_line(caught, tmp_path / "g.txt", part)


def test_a_truncated_gzip_file_is_rejected(source, tmp_path):
    path = tmp_path / "w.vec.gz"
    convert(source, path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FormatError) as caught:
        read_vectors(path)
    assert_one_line(caught, path, "broken gzip file")


@given(data=st.data())
def test_mutated_text_raises_only_wordgeom_errors(tmp_path_factory, data):
    content = bytearray(GLOVE.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "m.txt"
    path.write_bytes(content)
    with contextlib.suppress(WordgeomError):
        assert read_vectors(path).matrix.shape[1] >= 1


def test_half_precision_rejects_numbers_out_of_range(tmp_path):
    write_vectors(tmp_path / "v.bin", ["a", "b"], single([[1, np.inf], [65519, 7e4]]))
    with pytest.raises(InputError) as caught:
        convert(tmp_path / "v.bin", tmp_path / "w.npy", float16=True)
    assert_one_line(caught, "the vector of 'b' has", "beyond the range of float16, 65,504")
    convert(tmp_path / "v.bin", tmp_path / "w.npy", float16=True, limit=1)
    assert np.load(tmp_path / "w.npy").tolist() == [[1, np.inf]]


@pytest.mark.parametrize("name", ["w.npz", "w.txt", "w.vec"])
def test_the_run_card_is_converted_too(tmp_path, name):
    made = Vectors(WORDS, MATRIX)
    run_card.write(tmp_path / "v.bin", made, {"request": {"command": "train"}, "statistics": {}})
    convert(tmp_path / "v.bin", tmp_path / name, no_header=name == "w.txt")
    card = run_card.read_card(tmp_path / name)
    assert card is not None
    assert card["source"] == {"command": "train"}
    assert card["request"]["command"] == "convert"
    write_vectors(tmp_path / "v.bin", WORDS, MATRIX + 1)
    convert(tmp_path / "v.bin", tmp_path / name, no_header=name == "w.txt", force=True)
    assert run_card.read_card(tmp_path / name) is None
    assert not (tmp_path / f"{name}.json").exists()


def test_a_conversion_is_up_to_date_only_for_the_same_files_and_options(tmp_path):
    only, target = tmp_path / "only", tmp_path / "w.npy"
    only.write_text(f"{WORDS[0]}\n")
    card: dict[str, Any] = {"request": {"command": "train"}, "statistics": {}}
    run_card.write(tmp_path / "v.bin", Vectors(WORDS, MATRIX), card)

    def again(**options: Any) -> bool:
        try:
            return "up to date" in convert(tmp_path / "v.bin", target, **options).summary
        except OutputExistsError:
            return False

    assert not again(only=str(only))
    assert again(only=str(only))
    assert not again(only=str(only), float16=True)
    assert not again(only=str(only), words=str(tmp_path / "other.words"))
    assert not again()
    only.write_text(f"{WORDS[1]}\n")
    assert not again(only=str(only))
    only.write_text(f"{WORDS[0]}\n")
    (tmp_path / "w.words.txt").write_text("another\n")
    assert not again(only=str(only))
    only.unlink()
    assert not again(only=str(only))


@pytest.mark.parametrize("name", ["w.npz", "w.txt"])
def test_a_conversion_interrupted_between_two_renames_is_completed(tmp_path, monkeypatch, name):
    made, target = Vectors(WORDS, MATRIX), tmp_path / name
    run_card.write(tmp_path / "v.bin", made, {"request": {"command": "train"}, "statistics": {}})

    def stop(step: str, _path: Path) -> None:
        if step == "replace":
            raise KeyboardInterrupt

    monkeypatch.setattr(files, "boundary", stop)
    with pytest.raises(KeyboardInterrupt):
        convert(tmp_path / "v.bin", target, no_header=name == "w.txt")
    monkeypatch.undo()
    run_card.finish_write(target, [tmp_path / "w.words.txt"] if name == "w.npz" else [])
    assert run_card.read_card(target) is not None
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("name", ["w.bin", "w.npy", "p"])
def test_a_second_writer_of_one_file_is_rejected(source, tmp_path, name):
    form = None if "." in name else "projector"
    with (
        run_card.writer_lock(tmp_path / name),
        pytest.raises(LockedError, match="is being written"),
    ):
        convert(source, tmp_path / name, target_format=form)
    assert [path.name for path in tmp_path.iterdir()] == ["v.bin"]
    convert(source, tmp_path / name, target_format=form)


def test_errors_are_one_line_and_nothing_is_written(source, tmp_path):
    np.save(tmp_path / "a.npy", np.ones(3))
    np.save(tmp_path / "o.npy", np.array([{}], object))
    np.save(tmp_path / "big.npy", np.array([[1e39]]))
    np.savez(tmp_path / "two.npz", a=np.ones((1, 1)), b=np.ones((1, 1)))
    (tmp_path / "w").write_text("a\n")
    words: dict[str, Any] = {"words": str(tmp_path / "w")}
    cases: list[tuple[type[WordgeomError], str, str, dict[str, Any], str]] = [
        (OptionError, "v.bin", "w.bin", {"float16": True}, "--float16 needs .npy or .npz"),
        (OptionError, "v.bin", "w.bin", {"no_header": True}, "--no-header needs text"),
        (OptionError, "v.bin", "w.mtx", {}, ".bin, .txt or .vec"),
        (OptionError, "v.bin", "w.bin.gz", {}, ".bin, .txt or .vec"),
        (OptionError, "v.bin", "w.bin", {"kind": "pmi"}, "--kind does not apply to vectors"),
        (OutputExistsError, "v.bin", "w", {"target_format": "npy"}, "exists"),
        (
            OptionError,
            "v.bin",
            "x.npy",
            {"words": str(tmp_path / "x.npy")},
            "--words is the same file as the output",
        ),
        (
            OptionError,
            "v.bin",
            "x.npy",
            {"words": str(tmp_path / "v.bin")},
            "v.bin: is an input, which the output would overwrite",
        ),
        (MissingInputError, "a.npy", "w.bin", {}, "a.words.txt: no such file"),
        (FormatError, "a.npy", "w.bin", words, "a row of numbers per word"),
        (InputError, "o.npy", "w.bin", words, "never unpickled"),
        (InputError, "big.npy", "w.bin", words, "range of float32"),
        (InputError, "two.npz", "w.bin", words, "must contain one matrix, found a, b"),
        (
            InputError,
            "big.npy",
            "w.bin",
            words | {"memory": 1e-9},
            "limit of 1 byte",
        ),
    ]
    for error, name, target, values, part in cases:
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(error) as caught:
            convert(tmp_path / name, tmp_path / target, **values)
        assert_one_line(caught, part)
        assert sorted(tmp_path.rglob("*")) == before
    np.save(tmp_path / "a.npy", np.ones((3, 2)))
    with pytest.raises(InputError, match="3 vectors need as many words"):
        convert(tmp_path / "a.npy", tmp_path / "w.bin", **words)


def test_the_command_prints_the_result_and_the_notes(source, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("o").write_text("the\nzzz\n")
    assert main(["convert", "v.bin", "p", "--to", "projector", "--only", "o"]) == 0
    printed = capsys.readouterr()
    assert printed.out == "p: 1 × 4\n"
    assert printed.err == "wordgeom: note: 1 of 2 words of o have no vector: zzz\n"
    assert main(["convert", "v.bin", "w.npz", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert not list(tmp_path.glob("*.json"))
    assert json.dumps(sorted(p.name for p in tmp_path.iterdir())).count("words") == 1


def test_words_that_describe_another_file_are_never_replaced(tmp_path):
    write_vectors(tmp_path / "one.bin", WORDS, MATRIX)
    write_vectors(tmp_path / "other.bin", WORDS[::-1], MATRIX)
    convert(tmp_path / "one.bin", tmp_path / "v.npy")
    for force in (False, True):
        with pytest.raises(OutputExistsError, match=r"belongs to v\.npy too.* another name"):
            convert(tmp_path / "other.bin", tmp_path / "v.npz", force=force)
    assert (tmp_path / "v.words.txt").read_text().split() == WORDS
    convert(tmp_path / "one.bin", tmp_path / "w.npy")
    convert(tmp_path / "other.bin", tmp_path / "w.npy", force=True)
    assert (tmp_path / "w.words.txt").read_text().split() == WORDS[::-1]
