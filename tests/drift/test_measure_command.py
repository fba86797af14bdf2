"""`wordgeom drift --measure`: reports of both kinds, options that contradict, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from test_drift import speeches, train_model

import wordgeom as wg
from wordgeom.core.errors import OptionError
from wordgeom.vectors.keyed import Vectors, write_vectors

WORDS = [f"w{k}" for k in range(60)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(train_model(tmp_path_factory.mktemp("measures"), speeches()))


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Earlier and later vectors, the later ones rotated and of other lengths; w5 has moved."""
    rng = np.random.default_rng(2)
    then = rng.normal(size=(60, 8))
    now = 3.0 * then @ np.linalg.qr(rng.normal(size=(8, 8)))[0]
    now[5] = rng.normal(size=8)
    for name, matrix, words in (("then.bin", then, WORDS), ("now.vec", now[::-1], WORDS[::-1])):
        write_vectors(tmp_path / name, words, matrix.astype(np.float32))
    return str(tmp_path / "now.vec"), str(tmp_path / "then.bin")


def test_procrustes_finds_the_word_that_moved(ask, files):
    now, then = files
    found = json.loads(ask("drift", now, "--from", then, "--measure", "procrustes", "--json").out)
    first, *others = found["words"]
    assert (first["word"], first["rank"]) == ("w5", 1)
    assert first["distance"] > 5 * max(word["distance"] for word in others)
    assert {first[name] for name in ("p", "q", "count_then", "count_now")} == {None}
    assert len(found["words"]) == 60
    assert len(first["neighbours_then"]) == 3
    text = ask("drift", now, "--from", then, "--measure", "procrustes", "--top", "2").out
    assert "no test: this measure has no p" in text
    assert text.split("\n")[0].split() == ["word", "distance", *["neighbours", "then"],
                                           *["neighbours", "now"]]  # fmt: skip


def test_neighbours_take_files_of_other_dimensions_and_words(ask, files, tmp_path):
    now, then = files
    other = tmp_path / "other.txt"
    matrix = np.random.default_rng(4).normal(size=(41, 5)).astype(np.float32)
    matrix[3] = 0.0
    write_vectors(other, [*WORDS[20:], "new"], matrix)
    asked = ("drift", str(other), "--from", then, "--measure")
    found = json.loads(ask(*asked, "neighbours", "--nearest", "5", "--json").out)
    assert sorted(word["word"] for word in found["words"]) == sorted({*WORDS[20:]} - {"w23"})
    assert any("21 words are in one of the files alone" in note for note in found["notes"])
    assert any("1 zero vector: w23" in note for note in found["notes"])
    assert found["test"]["method"].endswith("of 5 among the 39 most frequent words")
    said = ask(*asked, "neighbours")
    assert (said.status, said.out) == (1, "")
    assert said.err.count("\n") == 1
    assert "--nearest 1000 needs at least 2,000 words to choose from, found 39" in said.err
    assert "found 8 then and 5 now" in ask(*asked, "procrustes").err
    same = ask("drift", now, "--from", then, "--measure", "neighbours", "--nearest", "5", "w5")
    assert same.out.split("\n")[1].split()[1] == "w5"


def test_files_without_a_common_word_are_one_line(ask, files, tmp_path):
    other = tmp_path / "other.vec"
    write_vectors(other, ["Мир", "naïve"], np.ones((2, 8), np.float32))
    said = ask("drift", str(other), "--from", files[1], "--measure", "procrustes")
    assert (said.status, said.out, said.err.count("\n")) == (1, "", 1)
    assert "have no word in common" in said.err


@pytest.mark.parametrize(("measure", "options"), [("pmi", []), ("gbu", ["--dim", "5"])])
def test_tested_measures_print_permutations_and_smallest_p(ask, model, measure, options):
    text = ask("drift", model, "--measure", measure, *options, "--permutations", "19").out
    assert text.split("\n")[1].split()[1] == "cell"
    assert "19 permutations; smallest possible p: 0.05" in text
    assert "then: 2000 to 2005, 90 documents" in text
    assert "split at 2006" in text
    asked = ("drift", model, "--measure", measure, *options, "--permutations", "19", "--json")
    one, other = ask(*asked, "--threads", "1").out, ask(*asked, "--threads", "3").out
    assert one == other
    found = json.loads(one)
    cell = found["words"][0]
    assert (cell["word"], cell["p"]) == ("cell", 0.05)
    assert cell["count_then"] + cell["count_now"] > 300
    assert found["test"]["smallest_p"] == pytest.approx(0.05)
    assert found["test"]["then"]["documents"] == 90
    assert all(word["p"] <= word["q"] for word in found["words"])


def test_skip_gram_has_no_p(ask, model):
    pytest.importorskip("gensim", reason="gensim is not installed")
    text = ask("drift", model, "--measure", "sgns", "--dim", "5").out
    assert text.split("\n")[1].split()[1] == "cell"
    assert "no test: this measure has no p" in text


def test_the_default_permutations_are_those_of_the_measure(model):
    assert wg.measure_drift(model, measure="pmi").test["permutations"] == 999
    report = wg.measure_drift(model, measure="gbu", dim=4, top=3)
    assert report.test["permutations"] == 99
    assert len(report.words) == 3


def test_rare_words_are_left_out_and_counted(ask, model, tmp_path):
    text = ask("drift", model, "--measure", "pmi", "--min-uses", "300", "--permutations", "9").out
    assert "13 words were left out, with fewer than 300 uses in a period" in text
    said = ask("drift", model, "cell", "--measure", "pmi", "--min-uses", "300")
    assert (said.status, said.err.count("\n")) == (1, 1)
    assert "'cell' is used 238 times then and 221 times now" in said.err
    said = ask("drift", model, "--measure", "pmi", "--min-uses", "9000")
    assert (said.status, said.err.count("\n")) == (1, 1)
    assert "no word has 9000 uses in both periods" in said.err
    assert "unknown word 'cel'" in ask("drift", model, "cel", "--measure", "pmi").err


REFUSED = [
    (["--measure", "pmi", "--test", "f"], "--test does not apply to --measure pmi"),
    (["--measure", "pmi", "--no-both-ranks"], "--both-ranks does not apply to --measure pmi"),
    (["--measure", "gbu", "--by", "f"], "--by does not apply to --measure gbu"),
    (["--measure", "pmi", "--then", "2000"], "--then does not apply to --measure pmi"),
    (["--measure", "sgns", "--permutations", "9"], "--measure sgns has no p"),
    (["--measure", "pmi", "--dim", "9"], "--dim needs --measure gbu or sgns, found pmi"),
    (["--measure", "gbu", "--contexts", "2000"], "--contexts needs --measure pmi, found gbu"),
    (["--measure", "procrustes"], "--measure procrustes compares two vectors files"),
    (["--measure", "pmi", "--from", "x.bin"], "--from needs --measure procrustes or neighbours"),
    (["--from", "x.bin"], "--from needs --measure procrustes or neighbours"),
    (["--split", "2005"], "--split needs --measure pmi, gbu or sgns"),
    (["--measure", "pmi", "--split", "1990"], "--split 1990 leaves a period without documents"),
    (["--measure", "pmi", "--split", "old"], "--split must be a time"),
]


@pytest.mark.parametrize(("options", "say"), REFUSED)
def test_contradictory_options_are_refused_in_one_line(ask, model, options, say):
    said = ask("drift", model, *options)
    assert (said.status, said.out, said.err.count("\n")) == (2, "", 1)
    assert say in said.err


def test_python_takes_files_models_and_vectors(files, model):
    now, then = files
    report = wg.measure_drift(now, from_=then, measure="procrustes", top=1)
    assert report.words[0].word == "w5"
    assert repr(report).startswith("<MeasureReport of 1 word by procrustes: w5 (")
    assert "<table>" in report._repr_html_()
    loaded = [wg.load_vectors(path) for path in files]
    again = wg.measure_drift(loaded[0], from_=loaded[1], measure="procrustes", top=1)
    assert again.to_dict() == report.to_dict()
    of_model = wg.measure_drift(wg.open_model(model), "cell", measure="pmi", permutations=9)
    assert [word.word for word in of_model.words] == ["cell"]
    with pytest.raises(OptionError, match="name the earlier one with from_"):
        wg.measure_drift(now, measure="procrustes")
    pytest.importorskip("pandas", reason="pandas is not installed")
    assert of_model.to_frame()["word"].tolist() == ["cell"]


def test_a_configuration_file_names_the_earlier_vectors(ask, files, tmp_path):
    config = tmp_path / "run.toml"
    config.write_text(
        f'[drift]\nmodel = "{files[0]}"\nfrom = "{files[1]}"\nmeasure = "procrustes"\ntop = 1\n'
    )
    said = ask("run", str(config))
    assert said.status == 0
    assert "w5" in said.out


def test_infinite_vectors_are_left_out(files, tmp_path):
    words = [*WORDS[:10], "inf"]
    matrix = np.eye(11, 8, dtype=np.float32) + 1.0
    matrix[10] = np.inf
    vectors = Vectors(words, matrix)
    write_vectors(tmp_path / "one.bin", words, vectors.matrix)
    report = wg.measure_drift(tmp_path / "one.bin", from_=tmp_path / "one.bin",
                              measure="procrustes")  # fmt: skip
    assert len(report.words) == 10
    assert max(abs(word.distance) for word in report.words) < 1e-9
