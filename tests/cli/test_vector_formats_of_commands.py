"""Commands that read vectors read every format, and name zero vectors in the same words."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import numpy as np
import pytest
from asking import Ask
from matrices import random_counts, store_matrix
from running import train

from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors, read_vectors, write_vectors

FORMATS = ["v.bin", "v.txt", "v.vec.gz", "glove.txt", "v.npy", "v.npz", "projector"]
V, K = 60, 6
ZEROS = ["w3", "w10", "w31"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with cooc/, vectors of all but five of its words, a table and word pairs."""
    monkeypatch.chdir(tmp_path)
    store_matrix(Path("cooc"), random_counts(np.random.default_rng(0), V))
    train("cooc", "gbu", {"dim": K}, RunOptions(threads=1), out="all.bin")
    made = read_vectors("all.bin")
    rows = [
        row for row, word in enumerate(made.words) if word not in {f"w{k}" for k in range(55, V)}
    ]
    vectors = Vectors([made.words[row] for row in rows], made.matrix[rows])
    write_vectors("vectors.bin", vectors.words, vectors.matrix)
    draw = np.random.default_rng(1)
    lines = [f"w{k},{draw.random():.3f},{draw.random():.3f}" for k in range(V)]
    Path("table.csv").write_text("name,size,age\n" + "\n".join(lines) + "\n")
    pairs = [f"w{k}\tw{k + 1}\t{draw.random() * 10:.2f}" for k in range(40)]
    Path("pairs.tsv").write_text("\n".join(pairs) + "\n")
    return tmp_path


@pytest.fixture
def zeros(folder: Path) -> Path:
    """The folder with zero vectors of three words, as a downloaded file has them."""
    vectors = read_vectors("vectors.bin")
    vectors.matrix[[vectors.index[word] for word in ZEROS]] = 0
    write_vectors("zeros.bin", vectors.words, vectors.matrix)
    return folder


def converted(ask: Ask, name: str, source: str = "vectors.bin") -> str:
    more = {"projector": ("--to", "projector"), "glove.txt": ("--no-header",)}.get(name, ())
    assert ask("convert", source, name, *more).status == 0
    return name


@pytest.mark.parametrize("name", FORMATS)
def test_each_command_answers_the_same_in_each_format(ask, folder, name):
    converted(ask, name)
    expected = json.loads(ask("eval", "vectors.bin", "pairs.tsv", "--json").out)
    found = json.loads(ask("eval", name, "pairs.tsv", "--json").out)
    assert found["scores"] == expected["scores"]
    for source, out in (("vectors.bin", "one.bin"), (name, "other.bin")):
        made = ask("impute", "--domain", "table.csv", "--vectors", source, "-o", f"i-{out}")
        assert made.status == 0, made.err
        made = ask("extend", source, "cooc", "-o", f"e-{out}", "--min-pairs", "1")
        assert made.status == 0, made.err
    for kind in "ie":
        assert Path(f"{kind}-one.bin").read_bytes() == Path(f"{kind}-other.bin").read_bytes()
    facts = json.loads(ask("info", name, "--json").out)
    assert (facts["kind"], facts["words"], facts["dimension"]) == ("vectors", 55, K)
    assert len(ask("info", name, "--digest").out.strip()) == 64
    assert ask("convert", name, "back.bin").status == 0
    assert Path("back.bin").read_bytes() == Path("vectors.bin").read_bytes()


@pytest.mark.parametrize("name", ["v.npy", "v.npz", "projector"])
def test_another_words_file_makes_the_output_stale(ask, folder, name):
    converted(ask, name)
    words = Path(name, "metadata.tsv") if name == "projector" else Path("v.words.txt")
    impute = ("impute", "--domain", "table.csv", "--vectors", name, "-o", "i.bin")
    extend = ("extend", name, "cooc", "-o", "e.bin", "--min-pairs", "1")
    before = ask("info", name, "--digest").out
    for command in (impute, extend):
        assert ask(*command).status == 0
        assert "up to date" in ask(*command).out, command
    words.write_text("\n".join(reversed(words.read_text().split())) + "\n")
    assert ask("info", name, "--digest").out != before
    for command in (impute, extend):
        answer = ask(*command)
        assert answer.status == 1, command
        assert "exists and " in answer.err


def test_another_words_file_makes_a_conversion_stale(ask, folder):
    convert = ("convert", converted(ask, "v.npy", "all.bin"), "c.bin")
    assert ask(*convert).status == 0
    assert "up to date" in ask(*convert).out
    words = Path("v.words.txt")
    words.write_text("\n".join(reversed(words.read_text().split())) + "\n")
    assert "c.bin: exists and was made from another" in ask(*convert).err


@pytest.mark.parametrize("name", ["v.npy", "v.npz", "projector"])
def test_the_input_is_never_overwritten(ask, folder, name):
    converted(ask, name)
    words = "projector/metadata.tsv" if name == "projector" else "v.words.txt"
    held = Path(words).read_bytes()
    Path("link.txt").symlink_to(words)
    for out in ("link.txt", words):
        table = ("impute", "--domain", "table.csv", "--vectors", name, "-o", "i.bin")
        answer = ask(*table, "--table", out)
        assert (answer.status, "is an input" in answer.err) == (2, True), answer
        answer = ask("extend", name, "cooc", "-o", out)
        assert answer.status == 2, answer
    assert Path(words).read_bytes() == held


@pytest.mark.parametrize(
    ("name", "say"),
    [
        ("alone.npy", "alone.words.txt: no such file, which must hold the words of alone.npy"),
        ("missing.npz", "missing.npz: no such file"),
        ("short.npy", "3 vectors need as many words, found 2 in short.words.txt"),
        ("cooc", "cooc: is a co-occurrence matrix, not vectors"),
        ("sparse.npz", "sparse.npz: is a sparse matrix, not vectors; for counts, wordgeom convert"),
        ("empty", "0 vectors need as many words, found 1 in metadata.tsv"),
    ],
)
def test_what_holds_no_vectors_is_one_line_in_each_command(ask, folder, name, say):
    import scipy.sparse

    np.save("alone.npy", np.ones((3, K), np.float32))
    np.save("short.npy", np.ones((3, K), np.float32))
    Path("short.words.txt").write_text("w1\nw2\n")
    scipy.sparse.save_npz("sparse.npz", scipy.sparse.eye_array(3, format="csr"))
    Path("sparse.words.txt").write_text("w1\nw2\nw3\n")
    Path("empty").mkdir()
    Path("empty/vectors.tsv").write_text("")
    Path("empty/metadata.tsv").write_text("w1\n")
    commands = [
        ("similar", name, "w1"), ("analogy", name, "w1", "w2", "w3"), ("info", name),
        ("eval", name, "pairs.tsv"), ("extend", name, "cooc", "-o", "e.bin"),
        ("impute", "--domain", "table.csv", "--vectors", name, "-o", "i.bin"),
    ]  # fmt: skip
    for command in commands:
        if command == ("info", "cooc"):
            continue
        answer = ask(*command)
        assert answer.status == 1, answer
        assert say in answer.err, command
        assert len(answer.err.splitlines()) == 1, answer


def test_the_weighting_of_converted_vectors_is_known_to_extend(ask, folder):
    assert ask("convert", "all.bin", "first.npy", "--limit", "50").status == 0
    assert ask("convert", "first.npy", "second.bin").status == 0
    for name in ("first.npy", "second.bin"):
        answer = ask("extend", name, "cooc", "-o", f"e-{name}.bin", "--min-pairs", "1")
        assert (
            f"options from the run card of {name}: --weighting ppmi, --neg 1, --cds 0.75"
            in answer.err
        )
        assert "by default" not in answer.err


def test_every_command_names_zero_vectors_in_the_same_words(ask, zeros):
    vectors = read_vectors("zeros.bin")
    named = ", ".join(sorted(ZEROS, key=vectors.index.__getitem__))
    line = f"3 zero vectors: {named}"
    for args in (
        ["similar", "zeros.bin", "w1"],
        ["analogy", "zeros.bin", "w1", "w2", "w4"],
        ["eval", "zeros.bin", "pairs.tsv"],
        ["compare", "zeros.bin", "vectors.bin", "--set", "pairs.tsv"],
        ["impute", "--domain", "table.csv", "--vectors", "zeros.bin", "-o", "i.bin"],
        ["extend", "zeros.bin", "cooc", "-o", "e.bin", "--min-pairs", "1"],
        ["convert", "zeros.bin", "zeros.npy"],
        ["info", "zeros.bin"],
    ):
        answer = ask(*args)
        assert answer.status == 0, answer
        assert (answer.out + answer.err).count(line) == 1, args


def test_many_zero_vectors_are_counted_and_the_first_named(ask, folder):
    vectors = read_vectors("vectors.bin")
    vectors.matrix[2:20] = 0
    write_vectors("zeros.bin", vectors.words, vectors.matrix)
    assert f"18 zero vectors: {', '.join(vectors.words[2:7])}, …" in ask("info", "zeros.bin").out


def test_a_zero_vector_is_neither_a_query_nor_a_neighbour(ask, zeros):
    answer = ask("similar", "zeros.bin", "w3")
    assert answer.status == 1
    assert "the vector of 'w3' is zero; choose other words" in answer.err
    found = json.loads(ask("similar", "zeros.bin", "w1", "--top", "99", "--json").out)
    assert len(found) == 51
    assert not {row["word"] for row in found} & set(ZEROS)


def test_zero_vectors_are_dropped_by_convert(ask, zeros):
    made, card = read_vectors("zeros.bin"), run_card.read_card(Path("all.bin"))
    run_card.write(Path("zeros.bin"), made, card)
    answer = ask("convert", "zeros.bin", "few.npy", "--drop-zero")
    assert "zeros.bin: 3 zero vectors were dropped: " in answer.err
    assert "few.npy: 52 × 6" in answer.out
    assert ask("convert", "few.npy", "few.bin").err == ""
    assert "up to date" in ask("convert", "zeros.bin", "few.npy", "--drop-zero").out
    assert "made with --drop-zero, not without" in ask("convert", "zeros.bin", "few.npy").err
    assert ask("convert", "zeros.bin", "all.npy").status == 0
    assert ask("convert", "zeros.bin", "all.npy", "--drop-zero").status == 1
    assert ask("convert", "zeros.bin", "all.npy", "--float16").status == 1
    assert ask("convert", "cooc", "c.npz", "--drop-zero").status == 2


def test_vectors_with_nan_are_dropped_by_convert(ask, zeros):
    made = read_vectors("zeros.bin")
    made.matrix[[made.index["w5"], made.index["w7"]], [0, 3]] = np.nan, -np.inf
    write_vectors("odd.bin", made.words, made.matrix)
    refused = ask("impute", "--domain", "table.csv", "--vectors", "odd.bin", "-o", "i.bin")
    assert "; train again, or drop such vectors with wordgeom convert --drop-nan" in refused.err
    answer = ask("convert", "odd.bin", "fine.bin", "--drop-nan")
    assert "odd.bin: 2 vectors with NaN or infinity were dropped: w5, w7" in answer.err
    assert "fine.bin: 53 × 6" in answer.out
    impute = ("impute", "--domain", "table.csv", "-o", "i.bin")
    assert ask(*impute, "--vectors", "fine.bin").status == 0
    write_vectors("none.bin", ["w1", "w2"], np.full((2, K), np.nan, np.float32))
    answer = ask("convert", "none.bin", "few.bin", "--drop-nan")
    assert "none.bin: all vectors contain NaN or infinity; train again" in answer.err


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ("pairs.tsv vectors.bin", "pairs.tsv: is not a vectors file; name the vectors first: "
         "wordgeom eval vectors.bin pairs.tsv"),
        ("pairs.tsv", "name the vectors first: wordgeom eval VECTORS pairs.tsv"),
        ("questions.txt", "name the vectors first: wordgeom eval VECTORS questions.txt"),
        ("pairs.tsv glove.txt", "name the vectors first: wordgeom eval glove.txt pairs.tsv"),
        ("vectors.bin all.bin pairs.tsv", "all.bin: is a vectors file, not a test set; to score "
         "several vectors files, use wordgeom compare"),
    ],
)  # fmt: skip
def test_vectors_and_test_sets_in_the_wrong_order_are_told_apart(ask, folder, given, line):
    converted(ask, "glove.txt")
    Path("questions.txt").write_text("w1 w2 w3 w4\nw3 w4 w1 w2\n")
    answer = ask("eval", *given.split())
    assert (answer.status, answer.err.count("\n")) == (1, 1)
    assert line in answer.err


def test_an_unreadable_directory_is_named_itself(ask, tmp_path, monkeypatch):
    def forbidden(_: object) -> None:  # a test that is root may read all
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.chdir(tmp_path)
    Path("hidden").mkdir()
    monkeypatch.setattr(os, "listdir", forbidden)
    for args in (["info", "hidden"], ["similar", "hidden", "w1"], ["eval", "v.bin", "hidden"]):
        line = "error: hidden: cannot be read: permission denied; check its permissions"
        assert line in ask(*args).err, args


def test_entities_and_words_with_a_dropped_zero_vector_are_inferred(ask, zeros):
    impute = ("impute", "--domain", "table.csv", "--vectors", "zeros.bin", "-o", "i.bin")
    extend = ("extend", "zeros.bin", "cooc", "-o", "e.bin", "--min-pairs", "1")
    answer = ask(*impute)
    assert "3 known vectors are zero: w3, w10, w31; --drop-zero imputes them" in answer.err
    for command, out in ((impute, "i.bin"), (extend, "e.bin")):
        ask(*command)
        made = read_vectors(out)
        assert not made.matrix[made.index["w10"]].any()
        assert "was made without --drop-zero, not with" in ask(*command, "--drop-zero").err
        answer = ask(*command, "--drop-zero", "--force")
        assert "zeros.bin: 3 zero vectors were dropped" in answer.err
        assert "known vectors are zero" not in answer.err
        made = read_vectors(out)
        assert len(made.words) == V
        assert made.matrix[[made.index[word] for word in ZEROS]].any(axis=1).all()
        kept = [word for word in read_vectors("zeros.bin").words if word not in ZEROS]
        assert made.words[: len(kept)] == kept


def test_vectors_that_are_all_zero_are_refused(ask, folder):
    write_vectors("none.bin", ["w1", "w2"], np.zeros((2, K), np.float32))
    answer = ask("convert", "none.bin", "few.bin", "--drop-zero")
    assert (answer.status, "none.bin: all vectors are zero" in answer.err) == (1, True)
    assert not Path("few.bin").exists()


def test_outputs_of_versions_without_the_option_are_up_to_date(ask, folder):
    impute = ("impute", "--domain", "table.csv", "--vectors", "vectors.bin", "-o", "i.bin")
    assert ask(*impute).status == 0
    card = json.loads(Path("i.bin.json").read_text())
    del card["request"]["options"]["drop_zero"]
    Path("i.bin.json").write_text(json.dumps(card))
    assert "up to date" in ask(*impute).out
    assert "was made before --drop-zero existed" in ask(*impute, "--drop-zero").err
