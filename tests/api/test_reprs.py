"""What a notebook shows of a result is short; tables are HTML."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import wordgeom as wg
from wordgeom.core.errors import InputError
from wordgeom.vectors.keyed import Vectors

WORDS = ["<b>", "the", "of", "and", "a" * 200, "to"]


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> wg.Model:
    monkeypatch.chdir(tmp_path)
    vectors = np.random.default_rng(2).standard_normal((6, 4)).astype(np.float32)
    return wg.Model(Vectors(WORDS, vectors), [], {})


def test_vectors_and_models_show_their_size_and_first_words(model):
    assert repr(model) == "<Model of 6 × 4>"
    assert repr(model.read) == f"<Vectors of 6 × 4: <b>, the, of, and, {'a' * 30}…, …>"
    assert repr(wg.Model(model.read, [], {}, status="rank deficient")) == (
        "<Model of 6 × 4, rank deficient>"
    )


def test_matrices_show_their_size_and_place(tmp_path, model):
    assert repr(wg.count([["a", "b"]] * 9, out="cooc")) == "<Counts of 2 words in cooc>"
    counts = wg.count_documents([["a", "b"]] * 9)
    assert repr(counts) == "<DocumentCounts of 9 documents × 2 words in a temporary directory>"
    counts.close()
    assert repr(counts).startswith("<DocumentCounts of 9")
    assert repr(wg.pmi("cooc", out="pmi")) == "<Weighted of 2 words in pmi>"
    assert repr(wg.convert("cooc", "counts.mtx")).startswith("<Outcome: counts.mtx")


def test_reports_and_trust_tables_are_html_in_a_notebook(model):
    Path("pairs.txt").write_text("the of 9\nand to 3\nthe to 2\nof and 1\n")
    report = wg.score(model, ["pairs.txt"])
    assert re.fullmatch(r"<Report on <Model of 6 × 4>: pairs \w+ -?[\d.]+.*>", repr(report))
    assert len(repr(report)) < 200
    assert str(report).splitlines()[0].startswith("set ")
    shown = report._repr_html_()
    assert shown.count("<tr>") == 1 + len(report.scores)
    rng = np.random.default_rng(1)
    rows = [
        f"{w}," + ",".join(map(str, rng.random(3))) for w in [*WORDS, *map("e{}".format, range(50))]
    ]
    Path("t.csv").write_text("\n".join(["name,x,y,z", *rows]))
    firms = wg.impute("t.csv", model)
    assert repr(firms) == ("<ImputedModel of 56 × 4; <Trust of 56 entities: 6 known, 50 imputed>>")
    shown = firms.table._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert shown.count("<tr>") == 21
    assert "… and 36 more" in shown


def test_a_drift_report_and_its_model_show_what_changed(model):
    rng = np.random.default_rng(5)
    records = [
        {"year": year, "text": " ".join(rng.choice(["war", "peace", "tax", "law"] if year < 1980
                                                   else ["web", "peace", "tax", "law"], 30))}
        for year in range(1950, 2010) for _ in range(2)
    ]  # fmt: skip
    counts = wg.count_documents(records, time_field="year", out="dtm")
    fitted = wg.train_model(counts, "model", degree=1, dim=2)
    assert repr(fitted) == (
        "<DynamicModel of 5 words in 120 documents, 1950 to 2009: r = 2, degree 1>"
    )
    report = wg.measure_drift("model", test="f")
    assert str(wg.measure_drift(fitted, test="f")) == str(report)
    with pytest.raises(InputError, match="the time must be a finite number, found '1950'; pass a"):
        fitted.vectors_at("1950")
    assert re.fullmatch(
        r"<DriftReport of 5 words, 1950 to 2009: \w+ \(F [\d.]+\), .*>", repr(report)
    )
    assert report._repr_html_().count("<tr>") == 6
    assert "neighbours 1950" in str(report)
