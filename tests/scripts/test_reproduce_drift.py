"""scripts/reproduce/drift: rows of its tables, and what is generator for them."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import wordgeom

sys.path.insert(0, str(Path(wordgeom.__file__).parent.parent / "scripts" / "reproduce"))

import drift_data
import drift_levels
from drift_levels import Settings, generator, simulate

SETTINGS = Settings(runs=2, permutations=9, processes=1)
CASES = [
    *drift_levels.global_cases(9),
    *drift_levels.word_cases(9),
    *drift_levels.quantile_cases(9),
]


@pytest.fixture(scope="module")
def one_process():
    with ThreadPoolExecutor(1) as executor:
        yield executor


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_documents_depend_on_the_run_alone_and_sparse_equals_dense(case):
    sample, again = (case.make(generator(case, 3)) for _ in range(2))
    assert np.array_equal(sample.X, again.X)
    assert not np.array_equal(sample.X, case.make(generator(case, 4)).X)
    csr = sample.csr()
    dense = np.zeros(sample.X.shape, np.float32)
    dense[np.repeat(np.arange(csr.rows), np.diff(csr.indptr)), csr.indices] = csr.data
    assert np.array_equal(dense, sample.X.astype(np.float32))


def test_only_the_moving_words_move():
    rng = [np.random.default_rng(5) for _ in range(2)]
    static, moved = drift_data.static(rng[0]), drift_data.moving(rng[1], 0.0, 5)
    assert static.X.shape == moved.X.shape == (1000, 20)
    X = drift_data.moving(np.random.default_rng(5), 4.0, 5).X
    variances = [X[np.abs(moved.times) < 0.2].var(axis=0), X[np.abs(moved.times) > 0.8].var(axis=0)]
    ratio = variances[1] / variances[0]
    assert ratio[:5].mean() > 1.5 > 1.2 > ratio[5:].mean()


def test_rows_agree_with_the_verdicts(one_process):
    whole, word, quantile = CASES[0], CASES[-5], CASES[-1]
    cells = drift_levels.global_row(whole, SETTINGS, one_process).split(" | ")
    found = simulate(whole, SETTINGS, one_process)
    assert cells[:3] == ["| static", "2", "documents"]
    assert float(cells[3]) == np.mean([v.global_p <= 0.05 for v in found])
    cells = drift_levels.word_row(word, SETTINGS, one_process).split(" | ")
    p = np.array([v.pvalues for v in simulate(word, SETTINGS, one_process)])
    assert float(cells[3]) == pytest.approx(np.mean(p[:, 5:] <= 0.05), abs=1e-3)
    assert float(cells[4]) == pytest.approx(np.mean(p[:, :5] <= 0.05), abs=1e-3)
    cells = drift_levels.quantile_row(quantile, SETTINGS, one_process).split(" | ")
    assert len(cells) == 5
    assert all(len(cell.split(" / ")) == 3 for cell in cells[1:])
