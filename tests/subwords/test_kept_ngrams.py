"""N-grams beside given vectors: kept by linear transforms and by extend, lost with a note."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import wordgeom as wg
from wordgeom.core.errors import InputError, OptionError, OutputExistsError
from wordgeom.formats import vector_files
from wordgeom.formats.vector_files import read_open_vectors
from wordgeom.stages import given_vectors
from wordgeom.storage.scratch import mapped_array
from wordgeom.storage.store import Store
from wordgeom.vectors.keyed import read_vectors, write_vectors

ASKED = ["turning", "walkings", "jumper", "zq"]
LINEAR = (
    ["--canonical"], ["--dim", "6"], ["--power", "0.5"], ["--orthonormal"],
    ["--align", "vectors.bin"], ["--fit", "pairs.tsv", "--penalty", "0.1"],
)  # fmt: skip
TRANSFORM = ["transform", "v.bin", "--center"]
REDUCE = ["train", "v.bin", "--method", "tsm", "--dim", "4", "--tau", "0.3"]
COMPRESS = ["compress", "v.bin", "--dim", "4", "--reducer", "svd"]


@pytest.fixture(params=["v.bin", "ft.bin"])
def given(request, words, ask):
    """Vectors of full rank with n-grams: wordgeom's own, or a model of fastText."""
    plain = read_vectors("vectors.bin")
    noise = np.random.default_rng(5).standard_normal(plain.matrix.shape).astype(np.float32)
    write_vectors("vectors.bin", plain.words, plain.matrix + noise)
    how = ["--subwords", "2-5", "--buckets", "5000"]
    assert ask("subwords", "vectors.bin", "-o", "v.bin", *how).status == 0
    assert ask("convert", "v.bin", "ft.bin", "--to", "fasttext").status == 0
    return request.param


@pytest.mark.parametrize("steps", LINEAR)
def test_a_linear_transform_maps_the_ngrams_as_it_maps_the_words(given, ask, steps):
    asked = ["transform", given, *steps, "-o"]
    made = ask(*asked, "w.bin", "--threads", "2")
    assert made.status == 0, made.err
    assert "n-grams" not in made.err
    before, after = (read_open_vectors(Path(name)) for name in (given, "w.bin"))
    assert before.model is not None
    assert after.model is not None
    linear = np.linalg.lstsq(before.vectors.matrix, after.vectors.matrix, rcond=None)[0]
    expected = before.model.vectors_of(ASKED) @ linear
    np.testing.assert_allclose(
        after.model.vectors_of(ASKED), expected, atol=1e-4 * np.abs(expected).max()
    )
    assert after.model.added == before.model.added
    assert "w.bin: up to date" in ask(*asked, "w.bin").out
    assert ask(*asked, "x.bin", "--threads", "1").status == 0
    assert Store.open("x.subwords").digest == Store.open("w.subwords").digest


@pytest.mark.parametrize(
    ("asked", "out", "do"),
    [
        (TRANSFORM, "w.bin", "omit --center, or transform vectors without n-grams"),
        (["transform", "v.bin", "--normalise"], "w.bin", "omit --normalise, or transform"),
        (["transform", "v.bin", "--remove-top", "1"], "w.bin", "omit --remove-top, or transform"),
        (COMPRESS, "w.npz", "use v.bin for words without a vector"),
        (REDUCE, "w.bin", "use v.bin for words without a vector"),
    ],
)
def test_ngrams_that_cannot_be_kept_are_lost_with_a_note(improved, ask, asked, out, do):
    made = ask(*asked, "-o", out)
    assert made.status == 0, made.err
    assert f"note: the n-grams of v.bin are not kept: {do}" in made.err
    assert not Path("w.subwords").exists()
    unknown = ask("similar", out, "turning")
    assert (unknown.status, unknown.err.count("unknown word 'turning'")) == (1, 1)
    plain = [arg.replace("v.bin", "vectors.bin") for arg in asked]
    assert "n-grams" not in ask(*plain, "-o", f"plain.{out}").err


@pytest.mark.parametrize(("asked", "out"), [(TRANSFORM, "v.txt"), (COMPRESS, "v.npz")])
def test_no_output_is_read_with_the_ngrams_of_its_input(improved, ask, asked, out):
    """`v.npz` would be read with v.subwords, the n-grams of `v.bin`."""
    made = ask(*asked, "-o", out)
    assert made.status == 2
    assert "v.subwords: has the n-grams of v.bin alone" in made.err
    assert not Path(out).exists()


def test_extend_keeps_the_ngrams_of_the_given_words(counts, ask):
    assert ask("build-cooc", "text.txt", "-o", "few", "--max-vocab", "60").status == 0
    how = ["--method", "gbu", "--dim", "8", "--subwords", "2-4", "--min-words", "3"]
    assert ask("train", "few", *how, "-o", "v.bin").status == 0
    asked = ["extend", "v.bin", "cooc", "-o"]
    made = ask(*asked, "w.bin")
    assert made.status == 0, made.err
    assert "n-grams" not in made.err
    before, after = (read_open_vectors(Path(name)) for name in ("v.bin", "w.bin"))
    assert before.model is not None
    assert after.model is not None
    assert len(after.vectors.words) > len(before.vectors.words)
    np.testing.assert_array_equal(before.model.vectors, after.model.vectors)
    assert "w.bin: up to date" in ask(*asked, "w.bin").out
    held = wg.extend(wg.open_vectors("v.bin"), "cooc")
    assert held.subwords is not None
    new = ask(*asked, "x.bin", "--keep-only-new")
    assert "the n-grams of v.bin are not kept: omit --keep-only-new to keep them" in new.err
    assert not Path("x.subwords").exists()


def test_python_keeps_the_ngrams_of_a_model(improved):
    model = wg.open_vectors("v.bin")
    made, written = wg.transform(model, dim=6), wg.transform("v.bin", dim=6, out="w.bin")
    np.testing.assert_array_equal(made["turning"], written["turning"])
    again = wg.transform("v.bin", dim=6, out="w.bin")  # up to date
    np.testing.assert_array_equal(made["turning"], again["turning"])
    for lost in (wg.transform(model, center=True), wg.compress(model, dim=4, reducer="svd")):
        assert lost.subwords is None
        assert any("the n-grams of the vectors are not kept" in note for note in lost.notes)


def test_the_ngrams_of_another_output_are_not_replaced(improved, ask):
    """`w.bin` and `w.txt` would share w.subwords, which is that of `w.bin`."""
    assert ask("subwords", "vectors.bin", "--subwords", "3-4", "-o", "w.bin").status == 0
    before = Store.open("w.subwords").digest
    Path("d.csv").write_text("walk,1,2\ntalk,2,1\nzq,2,2\n")
    for asked in (
        ["transform", "v.bin", "--canonical"],
        ["impute", "--domain", "d.csv", "--vectors", "v.bin", "--delta", "1"],
    ):
        for force in ([], ["--force"]):
            made = ask(*asked, "-o", "w.txt", *force)
            assert made.status == 2
            assert "w.bin: would be read with the n-grams of w.txt" in made.err
            assert not Path("w.txt").exists()
    assert Store.open("w.subwords").digest == before
    Path("w.bin").unlink()
    made = ask(*asked, "-o", "w.txt")  # a store that no file is read with
    assert made.status == 1
    assert "w.subwords: exists" in made.err
    assert "--force" in made.err
    assert ask(*asked, "-o", "w.txt", "--force").status == 0
    assert ask("similar", "w.txt", "turning", "--top", "2").status == 0


@pytest.mark.parametrize(
    "asked",
    [
        ["subwords", "vectors.bin", "-o", "vectors.txt"],
        ["convert", "v.bin", "vectors.txt"],
        ["transform", "v.bin", "--canonical", "-o", "vectors.vec"],
        [
            "train",
            "cooc",
            "--method",
            "gbu",
            "--dim",
            "4",
            "--subwords",
            "2-4",
            "-o",
            "vectors.txt",
        ],
    ],
)
def test_no_ngrams_are_written_that_another_file_would_be_read_with(improved, ask, counts, asked):
    """vectors.bin, which has no n-grams, would be read with vectors.subwords."""
    names = sorted(path.name for path in Path().iterdir())
    for force in ([], ["--force"]):
        made = ask(*asked, *force)
        assert made.status == 2, made
        assert "vectors.bin: would be read with the n-grams of vectors." in made.err
    assert sorted(path.name for path in Path().iterdir()) == names
    with pytest.raises(OptionError, match="would be read with the n-grams of vectors"):
        wg.open_vectors("v.bin").save("vectors.txt")


@pytest.mark.parametrize(
    "asked",
    [
        TRANSFORM, COMPRESS, ["convert", "v.bin"], ["subwords", "v.bin"],
        ["embed", "texts.txt", "--vectors", "v.bin", "--remove-components", "0"],
        ["impute", "--domain", "d.csv", "--vectors", "v.bin", "--delta", "1"],
    ],
    ids=lambda asked: asked[0],
)  # fmt: skip
def test_missing_ngrams_are_noted(improved, ask, asked):
    """The run card of v.bin says that v.subwords was beside it."""
    shutil.rmtree("v.subwords")
    Path("d.csv").write_text("walk,1,2\ntalk,2,1\nzq,2,2\n")
    Path("texts.txt").write_text("walk talks\nturning\n")
    out = "w.npz" if asked is COMPRESS else "w.npy" if asked[0] == "embed" else "w.bin"
    made = ask(*asked, *([] if asked[0] == "convert" else ["-o"]), out)
    assert made.status == 0, made.err
    if asked[0] == "subwords":
        assert "note: v.bin: n-grams are added a second time" in made.err
    else:
        assert (
            "note: v.subwords: these vectors were made with n-grams, which are missing" in made.err
        )


def test_words_of_an_array_are_no_vectors(improved, ask):
    """w.txt has words, one per line; `w.npy` has no words beside it."""
    Path("w.txt").write_text("walk\ntalk\n")
    np.save("w.npy", np.ones((3, 4)))
    assert ask("subwords", "vectors.bin", "-o", "w.bin").status == 0


@pytest.mark.parametrize(
    ("asked", "out"),
    [
        (["train", "cooc", "--method", "gbu", "--dim", "4"], "w.bin"),
        (TRANSFORM, "w.bin"),
        (COMPRESS, "w.npz"),
        (["convert", "vectors.bin", "w.bin"], "w.bin"),
    ],
)
def test_force_replaces_vectors_and_their_ngrams_by_vectors_without(
    improved, ask, counts, asked, out
):
    assert ask("subwords", "vectors.bin", "-o", "w.bin").status == 0
    if out != "w.bin":
        Path("w.bin").rename(out)
        Path("w.bin.json").unlink()
    place = [] if asked[0] == "convert" else ["-o", out]
    assert ask(*asked, *place).status in (1, 2)
    assert Path("w.subwords").exists()
    made = ask(*asked, *place, "--force")
    assert made.status == 0, made.err
    assert not Path("w.subwords").exists()
    assert ask("similar", out, "walk").status == 0
    assert ask(*asked, *place).status == int(asked[0] == "convert")  # which writes no run card here


@pytest.mark.parametrize("broken", [False, True])
def test_force_keeps_a_store_that_is_no_subword_model(improved, ask, counts, broken):
    """A count matrix under the name of a model, or a model that cannot be opened."""
    shutil.copytree("v.subwords" if broken else "cooc", "w.subwords")
    if broken:
        Path("w.subwords/meta.json").write_text("{")
    names = sorted(path.name for path in Path("w.subwords").iterdir())
    for force in ([], ["--force"]):
        made = ask(*TRANSFORM, "-o", "w.bin", *force)
        assert made.status == 2
        expected = "w.subwords: is no readable subword model, but would be read as that of w.bin"
        assert expected in made.err
        assert not Path("w.bin").exists()
    assert sorted(path.name for path in Path("w.subwords").iterdir()) == names


def test_memory_counts_the_ngrams_before_they_are_read(improved, ask, monkeypatch):
    real = vector_files.ngram_bytes(Path("v.bin"))
    model = read_open_vectors(Path("v.bin")).model
    assert model is not None
    assert real > model.vectors.nbytes

    def unread(*_, **__):
        raise AssertionError

    Path("d.csv").write_text("walk,1,2\ntalk,2,1\nzq,2,2\n")
    monkeypatch.setattr(given_vectors, "ngram_bytes", lambda _: 10**15)
    monkeypatch.setattr(given_vectors, "read_open_vectors", unread)
    for asked in (
        ["impute", "--domain", "d.csv", "--vectors", "v.bin", "--delta", "1"],
        ["transform", "v.bin", "--canonical"],
    ):
        made = ask(*asked, "-o", "w.bin")
        assert made.status == 1
        assert " with n-grams need " in made.err


def test_readers_count_the_ngrams_against_memory(improved, ask, monkeypatch):
    monkeypatch.setattr(vector_files, "available_memory", lambda: 2 * 10**4)
    made = ask("similar", "v.bin", "walk")
    assert made.status == 1
    assert "49 vectors of 30 and their n-grams need" in made.err
    write_vectors("alone.bin", improved.words, read_vectors("v.bin").matrix)
    assert ask("similar", "alone.bin", "walk").status == 0
    enough = vector_files.ngram_bytes(Path("v.bin"))
    with pytest.raises(InputError, match="and their n-grams need"):
        read_open_vectors(Path("v.bin"), memory=enough)
    mapped = partial(mapped_array, None)
    assert read_open_vectors(Path("v.bin"), memory=enough, allocate=mapped).model is not None


def test_no_output_is_read_with_the_ngrams_of_other_vectors(improved, ask, counts):
    """`v.txt` would be read with v.subwords, even where the path to it is spelt in another way."""
    before = Store.open("v.subwords").digest
    Path("here").symlink_to(".")
    train = ["train", "cooc", "--method", "gbu", "--dim", "4"]
    for asked in (
        [*train, "-o", "v.txt"],
        ["transform", "vectors.bin", "--canonical", "-o", "v.txt"],
        ["transform", "v.bin", "--center", "-o", "here/v.txt"],
        ["compress", "vectors.bin", "--reducer", "svd", "-o", "v.npz"],
        ["convert", "vectors.bin", "v.txt"],
        ["convert", "v.bin", "here/v.txt", "--limit", "9"],
    ):
        made = ask(*asked, "--force")
        assert made.status == 2, made
        assert "v.subwords: has the n-grams of " in made.err
        assert not Path(asked[-1]).exists()
    with pytest.raises(OptionError, match="has the n-grams of other vectors"):
        wg.open_vectors("vectors.bin").save("v.txt")
    assert Store.open("v.subwords").digest == before
    assert ask("convert", "v.bin", "here/v.txt").status == 0  # the same words and vectors


def test_a_model_is_saved_over_another_only_by_force(improved):
    model = wg.open_vectors("v.bin")
    model.save("s.bin")
    model.save("s.vec")  # the same words and vectors share s.subwords
    assert len(wg.open_vectors("s.vec")["turning"]) == improved.matrix.shape[1]
    Path("s.vec").unlink()
    card = Store.open("v.subwords").card
    model.save("v.txt")
    assert Store.open("v.subwords").card == card  # v.bin is still up to date
    before = Path("s.bin").read_bytes()
    with pytest.raises(OutputExistsError, match=r"s\.bin: exists; pass force=True"):
        wg.open_vectors("vectors.bin").save("s.bin")
    assert Path("s.bin").read_bytes() == before
    Path("s.bin.json").write_text("{}")
    wg.open_vectors("vectors.bin").save("s.bin", force=True)
    np.testing.assert_array_equal(read_vectors("s.bin").matrix, read_vectors("vectors.bin").matrix)
    assert not Path("s.subwords").exists()
    assert not Path("s.bin.json").exists()  # of the file that was replaced


def test_a_saved_model_belongs_to_the_words_as_they_are_spelt(improved):
    words = [f"{word} x" for word in improved.words]
    keyed = wg.add_subwords("vectors.bin", subwords="2-5").keyed_vectors()
    keyed.key_to_index = {word: row for row, word in enumerate(words)}
    keyed.index_to_key = words
    wg.add_subwords(keyed, subwords="2-5").save("s.bin", space="_")
    read = wg.open_vectors("s.bin")
    assert read.words[0] == "walk_x"
    assert len(read["turning"]) == 30
