"""Cells of documents, polynomials of time and topics that documents have not influenced."""

from __future__ import annotations

import numpy as np
import pytest
from drifting import opened, polynomials
from flipping import Passages, drawn, topics
from matrices import to_csr

from wordgeom.core.errors import InputError, RankError
from wordgeom.drift.flips.cells import CELLS, FOLDS, assign_cells
from wordgeom.drift.flips.levels import orthonormal_levels
from wordgeom.drift.flips.topics import cross_fitted_topics
from wordgeom.drift.time_axis import Axis


def assigned(times, units, seed=1):
    return assign_cells(np.asarray(times), np.asarray(units), np.random.default_rng(seed))


@pytest.mark.parametrize(("documents", "times"), [(60, 4), (23, 7), (4000, 3), (9, 9), (2, 2)])
def test_cells_are_of_one_time_and_one_fold_and_keep_passages_together(documents, times):
    rng = np.random.default_rng(2)
    units = np.repeat(np.arange(documents), rng.integers(1, 4, documents))
    of_document = np.resize(rng.permutation(times), documents)
    found = assigned(of_document[units], units)
    assert np.array_equal(found.time[found.of], of_document[units])
    assert all(len(np.unique(found.of[units == u])) == 1 for u in range(min(documents, 50)))
    assert np.array_equal(np.unique(found.of), np.arange(len(found)))
    assert len(found) <= max(CELLS, FOLDS * times)
    first = np.unique(units, return_index=True)[1]
    for time in range(times):
        among = first[of_document == time]
        sizes = np.bincount(found.fold[found.of[among]], minlength=FOLDS)
        assert np.ptp(sizes) <= 1  # in each time
        assert np.ptp(np.bincount(found.of[among])[np.unique(found.of[among])]) <= 1
    assert np.ptp(np.bincount(found.fold[found.of[first]], minlength=FOLDS)) <= 1  # in all


def test_cells_depend_on_the_seed_alone():
    times, units = np.arange(40) % 3, np.arange(40)
    one, same, other = (assigned(times, units, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.of, same.of)
    assert not np.array_equal(one.fold[one.of], other.fold[other.of])


def test_sums_are_over_the_passages_of_a_cell():
    found = assigned([0, 0, 0, 1], [0, 0, 1, 2])
    values, sums = np.array([[1, 2], [10, 20], [100, 200], [5, 6]]), np.zeros((len(found), 2))
    for part in (slice(0, 1), slice(1, 4)):
        found.add(sums, part, values[part])
    assert sums[found.of].tolist() == [[11, 22], [11, 22], [100, 200], [5, 6]]


def test_polynomials_do_not_depend_on_the_origin_and_the_unit_of_time():
    codes = np.repeat(np.arange(6), [3, 1, 8, 2, 5, 4])
    years = np.array([1950, 1951, 1955, 1960, 1961, 1980.0])
    made = []
    for values in (years, years - 1962, 12 * years + 7):
        t = (values - values[0] + 1) / np.ptp(values)
        made.append(orthonormal_levels(Axis(np.column_stack([t, t**2]), codes.astype(np.int32))))
    for other in made[1:]:
        np.testing.assert_allclose(np.abs(other), np.abs(made[0]), rtol=1e-6)
    weights = np.bincount(codes) - 1.0
    powers = np.hstack([np.ones((6, 1)), made[0]])
    np.testing.assert_allclose((powers.T * weights) @ powers / weights.sum(), np.eye(3), atol=1e-9)


@pytest.mark.parametrize(
    ("sizes", "found"), [([1, 1, 1, 1], 0), ([5, 1, 6, 1], 2), ([0, 9, 9, 0], 2)]
)
def test_times_need_two_documents(sizes, found):
    codes = np.repeat(np.arange(4), sizes).astype(np.int32)
    axis = Axis(polynomials(np.arange(4.0), 2), codes)
    what = f"--degree 2 needs more than 2 times with two documents or more, found {found}; "
    with pytest.raises(InputError, match=what):
        orthonormal_levels(axis)


def folded(passages, folds, rank=2):
    with opened() as context:
        return cross_fitted_topics(
            to_csr(passages.X.astype(np.float32)), passages.lengths, folds, rank,
            context,
        )  # fmt: skip


@pytest.fixture(scope="module")
def passages():
    rng = np.random.default_rng(3)
    usage = rng.dirichlet(0.3 * np.ones(3), 100) @ topics(rng, 3, 15)
    return Passages(
        drawn(rng, usage, rng.integers(20, 90, 100)), np.arange(100) % 4, np.arange(100)
    )


def test_topics_do_not_depend_on_the_documents_of_their_fold(passages):
    """Up to a rotation, which aligns the folds."""
    folds = np.arange(100) % FOLDS
    X = passages.X.copy()
    X[folds == 2] = X[folds == 2][:, ::-1] * 3 + np.arange(15)
    before, after = (
        folded(passages, folds),
        folded(Passages(X, passages.times, passages.units), folds),
    )
    for k in range(FOLDS):
        gap = np.abs(before[k] @ before[k].T - after[k] @ after[k].T).max()
        assert (gap < 1e-6 * np.abs(before[k]).max() ** 2) == (k == 2)


def test_topics_of_folds_are_alike_and_centred(passages):
    P = folded(passages, np.arange(100) % FOLDS)
    for each in P[1:]:
        assert np.corrcoef(each.ravel(), P[0].ravel())[0, 1] > 0.9
    mean = passages.X.sum(axis=0) / passages.X.sum()
    np.testing.assert_allclose(np.einsum("p,fpr->fr", mean, P), 0.0, atol=0.1 * np.abs(P).max())


def test_too_many_topics_are_one_line(passages):
    folds = np.arange(100) % FOLDS
    with pytest.raises(RankError, match="15 topics need data of a higher rank than 14; lower"):
        folded(passages, folds, 15)


def test_topics_are_singular_vectors_of_the_ppmi_of_other_folds(passages):
    """Against dense NumPy: pairs of different tokens, each token weighing 1; rows centred."""
    folds = np.arange(100) % FOLDS
    X, N = (values[folds != 3] for values in (passages.X.astype(float), passages.lengths))
    counts = (X / (N - 1.0)[:, None]).T @ X - np.diag((X / (N - 1.0)[:, None]).sum(axis=0))
    uses = X.sum(axis=0)
    np.testing.assert_allclose(counts.sum(axis=1), uses)  # a token weighs 1
    with np.errstate(divide="ignore"):
        pmi = np.log(counts * uses.sum() / np.outer(uses, uses))
    ppmi = np.maximum(pmi, 0.0)
    left, values, _ = np.linalg.svd(ppmi - ppmi.mean(axis=0))
    wanted = left[:, :2] * values[:2]
    wanted -= uses / uses.sum() @ wanted
    found = folded(passages, folds)[3]
    gram = wanted @ wanted.T
    np.testing.assert_allclose(found @ found.T, gram, atol=0.02 * np.abs(gram).max())
