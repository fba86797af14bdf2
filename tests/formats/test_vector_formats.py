"""Vectors as other programs' files: the same words and numbers, whatever the format."""

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
from wordgeom.formats import dense
from wordgeom.stages.convert import convert
from wordgeom.storage import files
from wordgeom.vectors import run_card
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
def test_every_format_comes_back_bit_for_bit(source, tmp_path, suffix):
    name = f"w.{suffix}"
    assert convert(source, tmp_path / name).summary.endswith("5 × 4")
    back = convert(tmp_path / name, tmp_path / "back.bin").vectors
    assert back is not None
    assert back.words == WORDS
    assert (tmp_path / "back.bin").read_bytes() == source.read_bytes()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Gensim's own
@pytest.mark.parametrize("name", ["w.txt", "w.txt.gz"])
def test_gensim_reads_text_with_and_without_its_first_line(source, tmp_path, name):
    for bare in (False, True):
        convert(source, tmp_path / name, force=True, no_header=bare)
        keyed = KeyedVectors.load_word2vec_format(tmp_path / name, no_header=bare)
        assert keyed.index_to_key == WORDS
        np.testing.assert_array_equal(keyed.vectors, MATRIX)
        read = read_vectors(tmp_path / name)
        assert (read.words, read.matrix.tolist()) == (WORDS, MATRIX.tolist())


def test_numpy_reads_the_arrays_and_words_stand_beside(source, tmp_path):
    convert(source, tmp_path / "w.npy", float16=True)
    convert(source, tmp_path / "x.npz", words=str(tmp_path / "names"))
    np.testing.assert_array_equal(np.load(tmp_path / "w.npy"), MATRIX.astype(np.float16))
    np.testing.assert_array_equal(np.load(tmp_path / "x.npz")["matrix"], MATRIX)
    for name in ("w.words.txt", "names"):
        assert (tmp_path / name).read_text(encoding="utf-8").splitlines() == WORDS


def test_the_same_vectors_are_the_same_bytes(source, tmp_path):
    for name in ("w.npz", "w.txt.gz"):
        convert(source, tmp_path / name)
        before = (tmp_path / name).read_bytes()
        convert(source, tmp_path / name, force=True)
        assert (tmp_path / name).read_bytes() == before


def test_a_projectors_folder_is_made_of_an_archive_too(source, tmp_path):
    convert(source, tmp_path / "v.npz")
    for path, name in ((source, "one"), (tmp_path / "v.npz", "other")):
        convert(path, tmp_path / name, target_format="projector")
    for file in ("vectors.tsv", "metadata.tsv"):
        one, other = (tmp_path / name / file for name in ("one", "other"))
        assert one.read_bytes() == other.read_bytes()


def test_a_projectors_folder_holds_numbers_and_words(source, tmp_path):
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
    with pytest.raises(OutputExistsError, match="found mine"):
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
    with pytest.raises(InputError, match="none of its words has a vector"):
        convert(source, tmp_path / "x.bin", only=str(tmp_path / "only"))


def test_a_list_of_words_may_hold_blanks_and_repeats(source, tmp_path):
    (tmp_path / "only").write_text("\n  a\t\r\n\nthe\u3000\na\n \nthe\n")
    made = convert(source, tmp_path / "w.bin", only=str(tmp_path / "only"))
    assert read_vectors(tmp_path / "w.bin").words == ["the", "a"]
    assert made.notes == [f"2 lines of {tmp_path / 'only'} repeat a word and were left out"]
    (tmp_path / "only").write_text(" \n\n")
    with pytest.raises(InputError, match="holds no words"):
        convert(source, tmp_path / "x.bin", only=str(tmp_path / "only"))


@pytest.mark.parametrize("name", ["w.npy", "w.vec", "w.bin", "w"])
def test_numbers_that_are_not_finite_are_told(tmp_path, monkeypatch, name):
    monkeypatch.setattr(dense, "_ROWS", 2)
    matrix = MATRIX.copy()
    matrix[[3, 4], [0, 2]] = np.nan, -np.inf
    write_vectors(tmp_path / "v.bin", WORDS, matrix)
    form = None if "." in name else "projector"
    told = convert(tmp_path / "v.bin", tmp_path / name, target_format=form).notes
    assert told == ["2 vectors hold NaN or infinity, the first that of 'a'"]
    assert (
        convert(tmp_path / "v.bin", tmp_path / f"x{name}", target_format=form, limit=3).notes == []
    )


def test_arrays_of_one_stem_share_their_words_if_these_are_the_same(source, tmp_path):
    convert(source, tmp_path / "w.npy")
    convert(tmp_path / "w.npy", tmp_path / "w.npz")
    (tmp_path / "w.npz").unlink()
    with pytest.raises(OutputExistsError, match=r"w\.words\.txt: exists"):
        convert(source, tmp_path / "w.npz", limit=2)
    assert not (tmp_path / "w.npz").exists()


@pytest.mark.parametrize("half", [False, True])
def test_an_array_is_written_as_numpy_writes_it(source, tmp_path, half):
    convert(source, tmp_path / "w.npy", float16=half)
    np.save(tmp_path / "numpys.npy", MATRIX.astype(np.float16) if half else MATRIX)
    assert (tmp_path / "w.npy").read_bytes() == (tmp_path / "numpys.npy").read_bytes()


@pytest.mark.parametrize("packed", [False, True])
def test_text_without_a_first_line_is_known(tmp_path, packed):
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
        (GLOVE + "open 1 2 3", "truncated, found a last line without a line break"),
        ("a " + "1.5 " * 999 + "\n" + "b\n" * 99, "implies 100 words of 999 numbers"),
    ],
)
def test_a_broken_line_of_such_text_is_told(tmp_path, content, part):
    (tmp_path / "g.txt").write_text(content)
    with pytest.raises(FormatError) as caught:
        read_vectors(tmp_path / "g.txt")
    assert_one_line(caught, tmp_path / "g.txt", part)


def test_a_gzip_file_that_was_cut_is_told(source, tmp_path):
    path = tmp_path / "w.vec.gz"
    convert(source, path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(FormatError) as caught:
        read_vectors(path)
    assert_one_line(caught, path, "broken gzip file")


@given(data=st.data())
def test_no_mutation_of_such_text_raises_but_the_packages_own_errors(tmp_path_factory, data):
    content = bytearray(GLOVE.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / "m.txt"
    path.write_bytes(content)
    with contextlib.suppress(WordgeomError):
        assert read_vectors(path).matrix.shape[1] >= 1


def test_half_precision_refuses_what_it_cannot_hold(tmp_path):
    write_vectors(tmp_path / "v.bin", ["a", "b"], single([[1, np.inf], [65519, 7e4]]))
    with pytest.raises(InputError) as caught:
        convert(tmp_path / "v.bin", tmp_path / "w.npy", float16=True)
    assert_one_line(caught, "the vector of 'b' does not fit into float16", "65,504")
    convert(tmp_path / "v.bin", tmp_path / "w.npy", float16=True, limit=1)
    assert np.load(tmp_path / "w.npy").tolist() == [[1, np.inf]]


@pytest.mark.parametrize("name", ["w.npz", "w.txt", "w.vec"])
def test_the_run_card_goes_along(tmp_path, name):
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


@pytest.mark.parametrize("name", ["w.npz", "w.txt"])
def test_a_conversion_that_is_stopped_between_two_names_is_finished(tmp_path, monkeypatch, name):
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
def test_a_second_writer_of_one_file_is_refused(source, tmp_path, name):
    form = None if "." in name else "projector"
    with (
        run_card.writer_lock(tmp_path / name),
        pytest.raises(LockedError, match="is being written"),
    ):
        convert(source, tmp_path / name, target_format=form)
    assert [path.name for path in tmp_path.iterdir()] == ["v.bin"]
    convert(source, tmp_path / name, target_format=form)


def test_what_has_no_place_is_refused_and_nothing_is_written(source, tmp_path):
    np.save(tmp_path / "a.npy", np.ones(3))
    np.save(tmp_path / "o.npy", np.array([{}], object))
    np.save(tmp_path / "big.npy", np.array([[1e39]]))
    np.savez(tmp_path / "two.npz", a=np.ones((1, 1)), b=np.ones((1, 1)))
    (tmp_path / "w").write_text("a\n")
    words: dict[str, Any] = {"words": str(tmp_path / "w")}
    cases: list[tuple[type[WordgeomError], str, str, dict[str, Any], str]] = [
        (OptionError, "v.bin", "w.bin", {"float16": True}, "--float16 is for .npy and .npz"),
        (OptionError, "v.bin", "w.bin", {"no_header": True}, "--no-header is for text"),
        (OptionError, "v.bin", "w.mtx", {}, ".bin, .txt or .vec"),
        (OptionError, "v.bin", "w.bin.gz", {}, ".bin, .txt or .vec"),
        (OptionError, "v.bin", "w.bin", {"kind": "pmi"}, "--kind is not for vectors"),
        (OutputExistsError, "v.bin", "w", {"target_format": "npy"}, "exists"),
        (
            OptionError,
            "v.bin",
            "x.npy",
            {"words": str(tmp_path / "x.npy")},
            "--words names the output",
        ),
        (
            OptionError,
            "v.bin",
            "x.npy",
            {"words": str(tmp_path / "v.bin")},
            "--words names the input",
        ),
        (MissingInputError, "a.npy", "w.bin", {}, "a.words.txt: no such file"),
        (FormatError, "a.npy", "w.bin", words, "a row of numbers for each word"),
        (InputError, "o.npy", "w.bin", words, "never unpickled"),
        (InputError, "big.npy", "w.bin", words, "beyond float32"),
        (InputError, "two.npz", "w.bin", words, "must hold one matrix, found a, b"),
        (InputError, "big.npy", "w.bin", words | {"memory": 1e-9}, "too large for --memory"),
    ]
    for error, name, target, values, part in cases:
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(error) as caught:
            convert(tmp_path / name, tmp_path / target, **values)
        assert_one_line(caught, part)
        assert sorted(tmp_path.rglob("*")) == before
    np.save(tmp_path / "a.npy", np.ones((3, 2)))
    with pytest.raises(InputError, match="holds 3 vectors, which need as many words"):
        convert(tmp_path / "a.npy", tmp_path / "w.bin", **words)


def test_the_command_tells_what_it_made_and_left_out(source, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("o").write_text("the\nzzz\n")
    assert main(["convert", "v.bin", "p", "--to", "projector", "--only", "o"]) == 0
    said = capsys.readouterr()
    assert said.out == "p: 1 × 4\n"
    assert said.err == "wordgeom: note: 1 of 2 words of o have no vector: zzz\n"
    assert main(["convert", "v.bin", "w.npz", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert not list(tmp_path.glob("*.json"))
    assert json.dumps(sorted(p.name for p in tmp_path.iterdir())).count("words") == 1
