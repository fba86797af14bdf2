"""scripts/reproduce/yao: its parts against scikit-learn, loops and closed forms."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wordgeom
from wordgeom.core.errors import FormatError, InputError, MissingInputError
from wordgeom.vectors.keyed import Vectors

sys.path.insert(0, str(Path(wordgeom.__file__).parent.parent / "scripts" / "reproduce"))

import yao_firms
import yao_knn
import yao_lstm
import yao_passages
import yao_starts
import yao_table1
import yao_table2

COMPANIES = "ticker,name,first_word,gics_sector\nA,Apple Inc.,apple,IT\nB,Best Buy,best,Retail\n"
COMPANIES += "C,Coca-Cola,coca,Food\nD,Best Western,best,Retail\nE,Ebay,ebay,Retail\n"


def firms(folder: Path, rows: list[str], head: str = "date,A,B,C,D,E") -> yao_firms.Firms:
    returns, companies = folder / "returns.csv", folder / "companies.csv"
    returns.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    companies.write_text(COMPANIES, encoding="utf-8")
    return yao_firms.read_firms(returns, companies)


def days(count: int) -> list[str]:
    rng = np.random.default_rng(3)
    return [f"d{k}," + ",".join(f"{x:.4f}" for x in rng.normal(size=5)) for k in range(count)]


def points(n: int, classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    sectors = rng.integers(0, classes, n)
    return rng.standard_normal((n, 3)) + sectors[:, None], sectors


def test_missing_returns_become_the_mean_of_their_day():
    table = np.array([[1, 3, np.nan], [np.nan, np.nan, np.nan], [2.0, 4, 9]])
    np.testing.assert_array_equal(yao_firms.fill(table), [[1, 3, 2], [0, 0, 0], [2, 4, 9]])


def test_firms_with_too_few_returns_are_left_out(tmp_path):
    rows = days(10)
    rows[:3] = [row.rpartition(",")[0] + "," for row in rows[:3]]  # E lacks three days of ten
    found = firms(tmp_path, rows)
    assert found.tickers == ["A", "B", "C", "D"]
    assert "4 firms over 10 days; 1 with more than 20%" in found.notes[0]
    table = np.array([[float(cell) for cell in row.split(",")[1:5]] for row in rows])
    np.testing.assert_allclose(found.correlations, np.corrcoef(table.T))


def test_a_firm_is_known_if_its_first_word_is_unique_and_in_the_vocabulary(tmp_path):
    found = firms(tmp_path, days(4))
    vectors = Vectors(["best", "apple", "ebay"], np.eye(3, dtype=np.float32))
    by = {reading: yao_firms.known(found, vectors, reading).tolist()
          for reading in (yao_firms.FIRST, yao_firms.NAMES)}  # fmt: skip
    assert by == {reading: [True, False, False, False, True] for reading in by}
    chosen = yao_firms.known(found, vectors, yao_firms.FIRST)
    np.testing.assert_array_equal(yao_firms.anchors(found, vectors, chosen), np.eye(3)[1:])


def test_an_ordinary_word_is_not_a_name(tmp_path):
    found = firms(tmp_path, [row.rpartition(",")[0] for row in days(4)], "date,A,B,C,X")
    vectors = Vectors(["best", "apple"], np.eye(2, dtype=np.float32))
    assert found.tickers == ["A", "B", "C"]  # X has no sector
    assert yao_firms.known(found, vectors, yao_firms.FIRST).tolist() == [True, True, False]
    assert yao_firms.known(found, vectors, yao_firms.NAMES).tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([], FormatError),
        (["d0,1,2,3,4"], FormatError),
        (["d0,1,2,3,x,5"], FormatError),
        (["d0,,,,,1"], InputError),
    ],
)
def test_invalid_returns_are_rejected(tmp_path, rows, error):
    with pytest.raises(error, match=r"returns\.csv"):
        firms(tmp_path, rows)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(MissingInputError, match=r"nothing\.csv"):
        yao_firms.read_firms(tmp_path / "nothing.csv", tmp_path / "nothing.csv")


@pytest.mark.parametrize("cosine", [False, True])
@pytest.mark.parametrize("k", [1, 3, 7])
def test_weighted_votes_agree_with_scikit_learn(cosine, k):
    from sklearn.neighbors import KNeighborsClassifier

    vectors, sectors = points(40)
    found = yao_knn.classify(
        vectors, sectors, np.arange(40), k, yao_knn.Vote(cosine, weighted=True)
    )
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True) if cosine else vectors
    for row in range(40):
        rest = np.delete(np.arange(40), row)
        model = KNeighborsClassifier(k, weights="distance").fit(units[rest], sectors[rest])
        assert found.given[row] == model.predict(units[row][None])[0]


def test_the_nearest_of_tied_classes_wins():
    classes = np.array([[2, 1], [1, 2], [3, 1], [0, 0]])
    near = np.array([[1.0, 2]] * 4)
    assert yao_knn.predict(classes, near, False).tolist() == [2, 1, 3, 0]
    three = np.array([[3, 1, 1, 3], [0, 1, 1, 2]])
    assert yao_knn.predict(three, np.ones((2, 4)), False).tolist() == [3, 1]


def test_a_neighbour_at_distance_0_outvotes_all_others():
    classes, near = np.array([[2, 1, 1], [1, 0, 0]]), np.array([[0.0, 1, 1], [1e-3, 1, 1]])
    assert yao_knn.predict(classes, near, True).tolist() == [2, 1]


def test_no_vector_is_its_own_neighbour_and_ties_go_by_rows():
    order, near = yao_knn.neighbours(np.zeros((4, 2)), cosine=False)
    assert order.tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert not near.any()


def test_gains_are_paired_by_firm():
    vectors, sectors = points(30)
    all_of_them = yao_knn.classify(vectors, sectors, np.arange(30), 3, yao_knn.PLAIN)
    some = np.arange(0, 30, 2)
    nothing = yao_knn.gain(yao_knn.only(all_of_them, some), all_of_them)
    assert (nothing.value, nothing.used) == (0, 15)
    perfect = replace(all_of_them, given=sectors)
    more = yao_knn.gain(yao_knn.only(all_of_them, some), perfect)
    assert more.value == pytest.approx(np.mean((all_of_them.given != sectors)[some]))
    assert 0 <= more.low < more.value < more.high < 1
    right = np.mean((all_of_them.given == sectors)[some])
    assert yao_knn.accuracy(yao_knn.only(all_of_them, some)).value == pytest.approx(right)


def score(value: float, half: float = 0.05) -> yao_table1.Score:
    return yao_table1.Score("", "", "", value, value - half, value + half, 1, 1)


def test_each_part_of_the_criterion_can_fail():
    before = [score(0.3)] * 7
    after = [score(value) for value in (0.8, 0.7, 0.6, 0.6, 0.5, 0.4, 0.35)]
    assert yao_table1.verdict(before, after) == (True, True, True)
    assert yao_table1.verdict(before, [*after[:6], score(0.3)]) == (False, True, True)
    assert yao_table1.verdict([score(0.3, 0.3)] * 7, after) == (True, False, True)
    assert yao_table1.verdict(before, [*after[:6], score(0.45)]) == (True, True, False)


@given(st.lists(st.sampled_from(["apple", "ebay", "a", "b", "\n", "apples"]), max_size=200),
       st.integers(1, 5), st.integers(0, 9))  # fmt: skip
def test_passages_are_disjoint_parts_of_lines(words, most, seed):
    text = " ".join(words)
    found = yao_passages.cut(text, ["apple", "ebay"], most, np.random.default_rng(seed))
    place, lines = 0, [line.split() for line in text.split("\n")]
    flat = [word for line in lines for word in [*line, "\n"]]
    for passage in found:
        assert 1 <= len(passage) <= yao_passages.LONGEST
        assert {"apple", "ebay"} & set(passage)
        starts = (k for k in range(place, len(flat)) if flat[k : k + len(passage)] == passage)
        place = next(starts) + len(passage)
    assert bool(found) == bool({"apple", "ebay"} & set(text.split()))


def test_the_number_of_passages_per_name_is_limited():
    names = ["apple"] * 30 + ["ebay"] * 2
    text = " ".join(f"{'x ' * 60}{name}" for name in [*names, ""])
    found = yao_passages.cut(text, ["apple", "ebay"], 5, np.random.default_rng(1))
    assert [sum(name in passage for passage in found) for name in ("apple", "ebay")] == [5, 2]
    assert all(len(passage) >= yao_passages.SHORTEST for passage in found)
    assert not yao_passages.cut(text, [], 5, np.random.default_rng(1))


def test_word_ids_come_from_the_training_set():
    passages = [[f"w{k % 7}", f"once{k}", "often"] for k in range(100)]
    folds = yao_passages.fold(passages, np.random.default_rng(2))
    assert [len(part) for part in (folds.train, folds.valid, folds.test)] == [70, 15, 15]
    assert folds.words[:3] == ["<unk>", "<eos>", "often"]
    assert set(folds.words[3:]) == {f"w{k}" for k in range(7)}
    every = [*folds.train, *folds.valid, *folds.test]
    assert all(p.tolist()[1:] == [0, 2, 1] for p in every)
    assert folds.numbers(["often", "absent"]).nonzero()[0].tolist() == [2]


def test_inputs_are_shifted_targets():
    inputs, targets = yao_lstm.padded([np.array([5, 6, 1]), np.array([7, 1])], 1)
    assert inputs.tolist() == [[1, 5, 6], [1, 7, 0]]
    assert targets.tolist() == [[5, 6, 1], [7, 1, -100]]


def test_perplexity_of_uniform_probabilities():
    assert yao_lstm.perplexity(np.full(9, np.log(50))) == pytest.approx(50)
    assert np.isnan(yao_lstm.perplexity(np.empty(0)))


def test_paired_differences_have_students_interval():
    found = yao_table2.paired(np.array([1.0, 2, 3]), np.array([2.0, 4, 6]))
    half = 4.302653 * 1 / np.sqrt(3)  # t(.975, 2 degrees), differences 1, 2, 3
    assert (found.value, found.low, found.high) == pytest.approx((2, 2 - half, 2 + half), rel=1e-6)


def test_vectors_are_scaled_to_sigma():
    matrix = np.random.default_rng(4).normal(2, 7, (50, 4)).astype(np.float32)
    made = yao_starts.scaled(Vectors([f"w{k}" for k in range(50)], matrix))
    assert made.matrix.std() == pytest.approx(yao_starts.SIGMA, rel=1e-5)
    with pytest.raises(InputError, match="must differ"):
        yao_starts.scaled(Vectors(["a"], np.ones((1, 4), np.float32)))


@pytest.mark.torch
def test_the_language_model_learns_a_rule_deterministically():
    rng = np.random.default_rng(7)
    start = rng.normal(0, 0.3, (8, 6)).astype(np.float32)
    passages = [np.array([*(np.arange(5) + k) % 6 + 2, 1]) for k in rng.integers(0, 6, 60)]
    settings = yao_lstm.Settings(layers=1, units=12, epochs=10, batch=8, rate=3e-2, patience=10)
    parts = passages[:40], passages[40:50], passages[50:]
    first = yao_lstm.fit(start, *parts, 1, 3, settings)
    again = yao_lstm.fit(start, *parts, 1, 3, settings)
    np.testing.assert_array_equal(first.losses, again.losses)
    np.testing.assert_array_equal(first.targets, np.concatenate(parts[2]))
    # The first word is one of six, each later one follows from it.
    starts = first.before == 1
    assert yao_lstm.perplexity(first.losses[~starts]) < 1.5
    assert 3 < yao_lstm.perplexity(first.losses[starts]) < 12


@pytest.mark.torch
def test_the_loss_agrees_with_the_probabilities():
    import torch

    network = yao_lstm.model(np.eye(5, 4, dtype=np.float32), yao_lstm.Settings(1, 3))
    inputs, targets = yao_lstm.padded([np.array([2, 3, 1]), np.array([4, 1])], 1)
    found = yao_lstm.losses(network, torch.tensor(inputs), torch.tensor(targets))
    states, _ = network["lstm"](network["embedding"](torch.tensor(inputs)))
    chances = network["out"](states).softmax(-1).detach().numpy().reshape(-1, 5)
    wanted = [0 if t < 0 else -np.log(p[t]) for p, t in zip(chances, targets.ravel(), strict=True)]
    np.testing.assert_allclose(found.detach().numpy(), wanted, rtol=1e-5)
