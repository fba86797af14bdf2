"""`impute` with n-grams: never anchors, the last resort of dropped entities, and a baseline."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wordgeom as wg
from wordgeom.formats.vector_files import read_open_vectors
from wordgeom.imputation.ngram_baseline import ngram_baseline
from wordgeom.imputation.trust_table import read_trust
from wordgeom.vectors.keyed import Vectors, read_vectors, write_vectors

KNOWN = ["walk", "talks", "jumped", "calling", "player", "work", "looks", "helped"]
UNKNOWN = ["turning", "acme"]  # the first has n-grams
DROPPED = ["walkings", "zq", "opens"]  # n-grams, nothing, a vector
ASKED = ["impute", "--domain", "d.csv", "--vectors", "v.bin", "--delta", "3", "--missing", "drop"]


@pytest.fixture
def domain(improved):
    """A table of known and unknown entities, and of entities that lack a value."""
    draw = np.random.default_rng(4).standard_normal((10, 4))
    rows = [f"{name}," + ",".join(f"{x:.6f}" for x in row)
            for name, row in zip([*KNOWN, *UNKNOWN], draw, strict=True)]  # fmt: skip
    rows += [f"{name},1,,3,4" for name in DROPPED]
    Path("d.csv").write_text("\n".join(["name,a,b,c,d", *rows]) + "\n")
    return improved


def test_ngrams_are_no_anchors(domain, ask):
    """The imputed vectors are those of the same vectors without n-grams, bit for bit."""
    assert ask(*ASKED, "-o", "w.bin").status == 0
    write_vectors("alone.bin", domain.words, domain.matrix)
    asked = ["alone.bin" if arg == "v.bin" else arg for arg in ASKED]
    assert ask(*asked, "-o", "x.bin").status == 0
    ours, plain = read_vectors("w.bin"), read_vectors("x.bin")
    number = len(plain.words)
    assert plain.words == [*domain.words, *UNKNOWN]
    assert ours.words[:number] == plain.words
    np.testing.assert_array_equal(ours.matrix[:number], plain.matrix)
    rows = {row.entity: row.source for row in read_trust(Path("w.tsv"))}
    assert {rows[name] for name in UNKNOWN} <= {"imputed", "mended"}


def test_dropped_entities_have_the_vector_of_their_ngrams(domain, ask):
    made = ask(*ASKED, "-o", "w.bin")
    assert "10 entities, 8 known, 2 imputed, 1 from n-grams" in made.out
    assert "1 dropped entity has the vector of its n-grams: walkings" in made.err
    model, found = read_open_vectors(Path("v.bin")).model, read_vectors("w.bin")
    assert model is not None
    assert found.words[-1] == "walkings"
    np.testing.assert_array_equal(found.matrix[-1:], model.vectors_of(["walkings"]))
    assert not {"zq"} & set(found.words)
    trust = read_trust(Path("w.tsv"))
    assert [row.entity for row in trust if row.source == "n-grams"] == ["walkings"]
    last = trust.row(len(trust) - 1)
    assert (last.anchor, last.neighbours) == ("", ())
    assert np.isnan([last.distance, last.error, last.anchor_weight]).all()
    facts = json.loads(Path("w.bin.json").read_text())["statistics"]
    assert facts["from_ngrams"] == 1
    assert ask("plot", "imputation", "w.bin", "-o", "p.png").status == 0
    alone = ask(*ASKED, "-o", "y.bin", "--only-entities")
    assert alone.status == 0
    assert read_vectors("y.bin").words == [*KNOWN, *UNKNOWN, "walkings"]


def test_the_output_keeps_the_ngrams_of_the_given_vectors(domain, ask):
    assert ask(*ASKED, "-o", "w.bin").status == 0
    assert "up to date" in ask(*ASKED, "-o", "w.bin").out
    before, after = (read_open_vectors(Path(name)).model for name in ("v.bin", "w.bin"))
    assert before is not None
    assert after is not None
    np.testing.assert_array_equal(before.vectors, after.vectors)
    shutil.rmtree("w.subwords")
    assert "8 known" in ask(*ASKED, "-o", "w.bin").out
    assert ask("similar", "w.bin", "jumpings", "--top", "2").status == 0
    assert ask(*ASKED, "-o", "y.bin", "--only-entities").status == 0
    assert not Path("y.subwords").exists()


PIPELINE = """
[impute]
domain = "d.csv"
vectors = "better.bin"
missing = "drop"
delta = 3
out = "w.bin"
[subwords]
vectors = "vectors.bin"
subwords = "2-5"
out = "better.bin"
[embed]
texts = "t.txt"
vectors = "w.bin"
out = "t.npy"
[convert]
source = "w.bin"
target = "moved.bin"
"""


def test_ngrams_pass_through_a_pipeline_once(domain, ask):
    Path("all.toml").write_text(PIPELINE)
    Path("t.txt").write_text("walk turning\nplayings acme\n")
    made = ask("run", "all.toml")
    assert made.status == 0, made.err
    assert "1 from n-grams" in made.out
    assert "1 word has no vector, its n-grams give one: playings" in made.err
    before, after = (read_open_vectors(Path(name)).model for name in ("better.bin", "moved.bin"))
    assert before is not None
    assert after is not None
    np.testing.assert_array_equal(before.vectors, after.vectors)
    assert ask("run", "all.toml").out.count("up to date") == 4


def test_python_imputes_with_the_ngrams_of_a_model(domain):
    how: dict[str, Any] = {"delta": 3, "missing": "drop"}
    made = wg.impute("d.csv", wg.open_vectors("v.bin"), **how)
    written = wg.impute("d.csv", "v.bin", out="w.bin", **how)
    np.testing.assert_array_equal(made.vectors, written.vectors)
    np.testing.assert_array_equal(made["jumpings"], written["jumpings"])
    assert made.words[-1] == "walkings"
    assert wg.impute("d.csv", "v.bin", out="w.bin", **how).subwords is not None  # up to date


def test_the_baseline_knows_nothing_of_the_hidden_vectors(improved, using):
    """Other vectors of the hidden words, with their n-grams, change no prediction of it."""
    given = read_open_vectors(Path("v.bin"))
    assert given.model is not None
    rows = np.array([given.vectors.words.index(word) for word in KNOWN])
    hidden, visible = np.array([1, 5]), np.array([0, 2, 3, 4, 6, 7])
    everyone = np.arange(len(rows))
    before = ngram_baseline(given.vectors, given.model, rows, using).make(everyone)
    predicted = before(hidden, visible)
    changed = given.vectors.matrix.copy()
    changed[rows[hidden]] *= -3
    other = Vectors(given.vectors.words, changed)
    after = ngram_baseline(other, given.model, rows, using).make(everyone)
    np.testing.assert_array_equal(after(hidden, visible), predicted)
    true = given.vectors.matrix[rows[hidden]]
    cosines = np.sum(predicted * true, 1) / np.linalg.norm(predicted, axis=1)
    assert (cosines / np.linalg.norm(true, axis=1) > 0.5).all()


@pytest.mark.parametrize("fit", [{}, {"ngram_ridge": 3.0}, {"half_rank": 0.05}])
def test_the_baseline_is_that_of_vectors_without_ngrams(words, ask, using, fit):
    """N-grams fitted to the other words of vectors.bin, alike, predict the hidden ones alike."""
    Path("d.csv").write_text("a,1,2\n")
    fit = {"subwords": "2-5", "min_words": 1, "clip": 0.0} | fit
    how = [f"--{name.replace('_', '-')}={value}" for name, value in fit.items()]
    assert ask("subwords", "vectors.bin", "-o", "v.bin", *how).status == 0
    plain, given = read_vectors("vectors.bin"), read_open_vectors(Path("v.bin"))
    assert given.model is not None
    hidden = np.array([plain.words.index("talks")])
    rows = np.arange(len(plain.words))
    predict = ngram_baseline(given.vectors, given.model, rows, using).make(rows)
    predicted = predict(hidden, np.delete(rows, hidden))
    rest = [word for word in plain.words if word != "talks"]
    write_vectors("rest.bin", rest, plain.matrix[[plain.words.index(word) for word in rest]])
    model = wg.add_subwords("rest.bin", **fit)
    expected = model["talks"] / np.linalg.norm(model["talks"])
    # Ranks among one word more weigh the others a little differently.
    assert predicted[0] @ expected > 0.9995 * np.linalg.norm(predicted)


def test_validation_reports_the_baseline(domain, ask):
    made = ask(*ASKED, "-o", "w.bin", "--validate", "4")
    assert made.status == 0, made.err
    lines = [line for line in made.out.splitlines() if line.startswith("n-grams ")]
    assert len(lines) == 4 + 1  # measures, and a note
    for out in (["w.bin"], ["other.bin", "--threads", "1"]):  # the first is up to date
        again = ask(*ASKED, "--validate", "4", "-o", *out).out.splitlines()
        assert [line for line in again if line.startswith("n-grams ")] == lines
    how = ["--subwords", "2-5", "--buckets", "5000", "--force"]
    assert ask("subwords", "vectors.bin", "-o", "h.bin", *how).status == 0
    assert ask("convert", "h.bin", "v.bin", "--to", "fasttext", "--force").status == 0
    plain = ask(*ASKED, "-o", "z.bin", "--validate", "4")
    assert plain.status == 0
    assert "n-grams  " not in plain.out
