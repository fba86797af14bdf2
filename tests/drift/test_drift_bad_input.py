"""Dated documents that no test suits: each is one clear line or a counted note."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line

import wordgeom as wg
from wordgeom.core.errors import InputError
from wordgeom.drift.report import DriftReport


def counted(folder: Path, dates: Sequence[str], extra: Sequence[str] = ()) -> Path:
    """Counts of a speech for each date, on one of three topics, `extra` texts first."""
    rng = np.random.default_rng(1)
    topics = "peace war", "oil trade debt", "climate soviet union"
    words = [topics[k] for k in rng.integers(0, 3, len(dates) - len(extra))]
    every = " ".join(topics).split()
    texts = [*extra, *(" ".join(rng.choice([*3 * few.split(), *every], 25)) for few in words)]
    lines = [json.dumps({"t": t, "s": s}) for t, s in zip(dates, texts, strict=True)]
    (folder / "un.jsonl").write_text("\n".join(lines), encoding="utf-8")
    wg.count_documents(
        folder / "un.jsonl", out=folder / "dtm", quiet=True,
        time_field="t", text_field="s", min_count=1,
    )  # fmt: skip
    return folder / "dtm"


def report_of(
    folder: Path, dates: Sequence[str], extra: Sequence[str] = (), **options: Any
) -> DriftReport:
    counts = counted(folder, dates, extra)
    wg.train_model(counts, folder / "model", dim=2, degree=1, quiet=True)
    return wg.measure_drift(folder / "model", permutations=19, **options)


YEARS = [str(1950 + k // 6) for k in range(60)]


def test_plain_years_need_no_note(tmp_path):
    assert report_of(tmp_path, YEARS).notes == []


def test_one_time_only_cannot_be_trained(tmp_path):
    with pytest.raises(InputError) as caught:
        wg.train_model(counted(tmp_path, ["1950"] * 30), tmp_path / "model", dim=2, quiet=True)
    assert_one_line(caught, "at least two distinct times", "found only 1950")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("permute", ["times", "documents"])
def test_fewer_than_five_times_are_noted(tmp_path, permute):
    dates = [f"195{k % 3}" for k in range(40)]
    notes = report_of(tmp_path, dates, test="permutation", permute=permute).notes
    assert "only 3 distinct times: one unusual time looks like change" in notes
    few = any("p of all words together cannot be below 0.333: too few" in note for note in notes)
    assert few == (permute == "times")


def test_times_with_one_document_are_counted(tmp_path):
    dates = [*YEARS[:-2], "1958-03-04", "1959-03-04"]
    note = "2 of 12 times have a single document; p is nearly exact only if times are of similar"
    found = report_of(tmp_path, dates, test="permutation")
    assert any(printed.startswith(note) for printed in found.notes)
    flips = wg.measure_drift(tmp_path / "model", permutations=19)
    part = "2 times have a single document, which the test leaves out; use wider bins"
    assert part in flips.notes
    again = wg.measure_drift(tmp_path / "model", permutations=19, bin="year")
    assert not any("single document" in found for found in again.notes)
    other = wg.measure_drift(
        tmp_path / "model", permutations=19, test="permutation", permute="documents"
    )
    assert not any("single document" in found for found in other.notes)


def test_rare_words_are_counted(tmp_path):
    extra = ["oil rotc", "peace rotc", "war brezhnev lenin"]
    found = report_of(tmp_path, YEARS, extra, rank=6)
    assert "3 listed words are in fewer than 10 documents; F may rest on a few of them " in str(
        found
    )
    rare = {word.change.word for word in found.words if word.documents < 10}
    assert rare == {"rotc", "brezhnev", "lenin"}


def test_documents_without_words_or_times_are_counted(tmp_path):
    dates = ["", "c. 1950", *YEARS]
    found = report_of(tmp_path, dates, ["peace", "war", "", "—  …\r\n", "\ufeff"])
    assert "5 documents have no readable time or no word; left out" in found.notes
    assert found.model["documents"] == 57


def test_no_document_with_words_is_one_line(tmp_path):
    with pytest.raises(InputError) as caught:
        report_of(tmp_path, ["1950", "1960", ""], ["", "…", "peace war oil"])
    assert_one_line(caught, "at least two distinct times", "found no document")


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_words_drawn_without_topics_are_tested(tmp_path, seed):
    """Moments of topics that are noise are negative at some times."""
    rng, words = np.random.default_rng(seed), [f"w{k}" for k in range(60)]
    texts = [" ".join(rng.choice(words, 50)) for _ in range(200)]
    counts = counted(tmp_path, [str(1990 + k % 4) for k in range(200)], texts)
    wg.train_model(counts, tmp_path / "model", dim=5, degree=2, quiet=True)
    found = wg.measure_drift(tmp_path / "model", permutations=19, top=0)
    p = np.array([word.change.p for word in found.words])
    assert len(p) == 60
    assert np.all((p > 0.0) & (p <= 1.0))
