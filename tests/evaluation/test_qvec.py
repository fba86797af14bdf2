"""QVEC and QVEC-CCA against loops and closed forms, and the file format of oracles."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from corpora import assert_one_line
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.core.errors import InputError
from wordgeom.core.types import Float64
from wordgeom.evaluation.answers import scores
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.qvec import REPEATED, read_oracle
from wordgeom.evaluation.qvec_measures import qvec, qvec_cca, qvec_cca_mean, ranks, underdetermined
from wordgeom.linalg.device import open_context
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors.keyed import Vectors


@pytest.fixture
def sides() -> tuple[Float64, Float64]:
    """(60 × 5) vectors and (60 × 4) features that share a direction."""
    rng = np.random.default_rng(5)
    vectors, features = rng.standard_normal((60, 5)), rng.random((60, 4))
    vectors[:, 1] += 2 * features[:, 3]
    return vectors, features


def put(directory: Path, *lines: str) -> Path:
    path = directory / "oracle.tsv"
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def test_qvec_is_the_sum_of_best_correlations(sides):
    vectors, features = sides
    best = [max(np.corrcoef(x, s)[0, 1] for s in features.T) for x in vectors.T]
    assert qvec(vectors, features) == pytest.approx(sum(best), abs=1e-12)


def test_a_negative_best_correlation_lowers_the_sum():
    rising, falling = np.arange(9.0)[:, None], -np.arange(9.0)[:, None]
    assert qvec(rising, falling) == pytest.approx(-1)
    assert qvec(np.hstack([rising, falling]), falling) == pytest.approx(0)


def test_constant_columns_correlate_with_nothing(sides):
    vectors, features = sides
    constant = np.full((60, 1), 0.1)
    assert qvec(constant, features) == 0
    wider = np.hstack([vectors, constant])
    assert qvec(wider, features) == pytest.approx(qvec(vectors, features))
    assert np.isnan(qvec_cca(constant, features))
    assert qvec_cca(wider, features) == pytest.approx(qvec_cca(vectors, features))


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (5, 0)])
def test_measures_of_too_few_words_are_nan(shape):
    features = np.ones(shape)
    vectors = np.random.default_rng(0).standard_normal((shape[0], 4))
    assert all(np.isnan(f(vectors, features)) for f in (qvec, qvec_cca, qvec_cca_mean))


def test_qvec_ignores_scale_but_changes_under_rotation(sides):
    vectors, features = sides
    scaled = vectors * [1e-30, 1, 1e30, 1e250, 1e-250]
    assert qvec(scaled, features) == pytest.approx(qvec(vectors, features), abs=1e-9)
    assert qvec_cca(scaled, features) == pytest.approx(qvec_cca(vectors, features), abs=1e-9)
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((5, 5)))[0]
    assert abs(qvec(vectors @ turn, features) - qvec(vectors, features)) > 0.05


def test_cca_is_the_square_root_of_the_largest_eigenvalue(sides):
    x, s = (side - side.mean(axis=0) for side in sides)
    product = np.linalg.solve(x.T @ x, x.T @ s) @ np.linalg.solve(s.T @ s, s.T @ x)
    roots = np.sqrt(np.sort(np.linalg.eigvals(product).real)[::-1][:4])
    assert qvec_cca(*sides) == pytest.approx(roots[0], abs=1e-10)


def test_cca_agrees_with_scikit_learn(sides):
    from sklearn.cross_decomposition import CCA

    x, s = CCA(n_components=1, max_iter=5000, tol=1e-12).fit(*sides).transform(*sides)
    assert qvec_cca(*sides) == pytest.approx(np.corrcoef(x[:, 0], s[:, 0])[0, 1], abs=1e-6)


def test_cca_is_invariant_under_invertible_maps(sides):
    vectors, features = sides
    change = np.random.default_rng(2).standard_normal((5, 5)) + 3 * np.eye(5)
    assert qvec_cca(vectors @ change + 7, features) == pytest.approx(qvec_cca(*sides), abs=1e-10)


def test_cca_of_linearly_dependent_columns(sides):
    vectors, features = sides
    wider = np.hstack([vectors, vectors @ np.ones((5, 2)), np.zeros((60, 1))])
    shares = np.hstack([features, 4 - features.sum(axis=1, keepdims=True)])  # rows add up to 4
    assert qvec_cca(wider, shares) == pytest.approx(qvec_cca(*sides), abs=1e-10)
    assert ranks(wider, shares) == 9


@pytest.mark.parametrize(("n", "few"), [(8, True), (9, True), (10, True), (11, False)])
def test_cca_of_too_few_words_is_nan(n, few):
    rng = np.random.default_rng(7)
    vectors, features = rng.standard_normal((n, 5)), rng.random((n, 4))  # ranks 5 and 4
    assert underdetermined(vectors, features) == few
    assert np.isnan(qvec_cca(vectors, features)) == few
    assert np.isnan(qvec_cca_mean(vectors, features)) == few
    assert np.isfinite(qvec(vectors, features))


def test_the_mean_is_over_all_canonical_correlations_of_unit_rows(sides):
    unit = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in sides]
    x, s = (np.linalg.qr(side - side.mean(axis=0))[0] for side in unit)
    expected = np.linalg.svd(x.T @ s, compute_uv=False).mean()
    assert qvec_cca_mean(*sides) == pytest.approx(expected, abs=1e-10)
    lengths = np.random.default_rng(3).uniform(1, 9, (60, 1))
    assert qvec_cca_mean(sides[0] * lengths, sides[1]) == pytest.approx(expected, abs=1e-10)


def test_vectors_equal_to_the_features_score_the_maximum(sides):
    _, features = sides
    assert qvec(features, features) == pytest.approx(4)
    assert qvec_cca(features[:, :2] * 5, features) == pytest.approx(1)


def test_an_oracle_is_answered_by_the_common_words(tmp_path: Path, using: Context):
    path = put(
        tmp_path,
        'cat\t{"noun": 1.0, "rare": 0}',
        'run\t{"verb": 0.5, "noun": 0.5}',
        'blip\t{"odd": 1}',
        'cat\t{"verb": 1.0}',
        'nil\t{"noun": 1}',
        'CAT\t{"verb": 1}',
        'the\t{"det": 1}',
    )
    matrix = np.array([[1, 2], [0, 0], [3, 4], [5, 7]], np.float32)
    task = read_oracle(path, EvalOptions(restrict_vocab=1))
    answers = task.answer(Vectors(["the", "nil", "cat", "run"], matrix), using)
    assert answers.items.tolist() == [0, 1, 5]
    assert answers.given.tolist() == [[3, 4], [5, 7], [1, 2]]
    assert answers.gold.tolist() == [[0, 1, 0], [0, 0.5, 0.5], [1, 0, 0]]  # det, noun, verb
    assert sorted(answers.excluded.values()) == [1, 1, 1, 1]
    assert answers.excluded[REPEATED] == 1
    assert answers.total == 7
    assert "left out: 2 (features without an in-vocabulary word)" in answers.notes
    assert any("3 words are too few" in note for note in answers.notes)
    for score in scores(answers, 100, 1)[1:]:
        assert np.isnan([score.value, score.low, score.high]).all()


def test_intervals_contain_their_scores(tmp_path: Path, using: Context, sides):
    vectors, features = sides
    named = [dict(zip("abcd", row, strict=True)) for row in features.tolist()]
    path = put(tmp_path, *(f"w{k}\t{json.dumps(row)}" for k, row in enumerate(named)))
    words = [f"w{k}" for k in range(60)]
    task = read_oracle(path, EvalOptions())
    answers = task.answer(Vectors(words, vectors.astype(np.float32)), using)
    found = {score.measure: score for score in scores(answers, 1000, 1)}
    assert list(found) == ["QVEC", "QVEC-CCA", "QVEC-CCA mean"]
    assert found["QVEC"].value == pytest.approx(qvec(vectors, features), abs=1e-5)
    assert all(score.low < score.value < score.high for score in found.values())
    assert len(answers.notes) == 1
    assert answers.notes[0].startswith("chance level, with rows permuted: QVEC ")


def test_the_chance_level_is_the_score_of_vectors_that_know_nothing(tmp_path: Path, using: Context):
    rng = np.random.default_rng(4)
    kinds = [{f"noun.{k % 5}": 1.0, f"verb.{k % 7}": 0.5} for k in range(400)]
    words = [f"w{k}" for k in range(400)]
    path = put(tmp_path, *(f"{w}\t{json.dumps(f)}" for w, f in zip(words, kinds, strict=True)))
    knowing = np.eye(5)[np.arange(400) % 5] + 0.3 * rng.standard_normal((400, 5))
    levels = []
    for matrix in (knowing, rng.standard_normal((400, 5))):
        vectors = Vectors(words, np.hstack([matrix, rng.random((400, 20))]).astype(np.float32))
        answers = read_oracle(path, EvalOptions()).answer(vectors, using)
        again = read_oracle(path, EvalOptions()).answer(vectors, using)
        assert answers.notes == again.notes
        (note,) = answers.notes
        named = [each.rsplit(" ", 1) for each in note.partition(": ")[2].split(", ")]
        scored = {score.measure: score.value for score in scores(answers, 0, 1)}
        assert [name for name, _ in named] == list(scored)
        levels.append({name: (float(level), scored[name]) for name, level in named})
    (chance, cca), (_, ignorant) = (level["QVEC-CCA"] for level in levels)
    assert 0.2 < chance < 0.5 < 0.8 < cca
    assert ignorant == pytest.approx(chance, abs=0.08)


@pytest.mark.parametrize(
    "line",
    [
        "no tab",
        '\t{"noun": 1}',
        "word\t",
        "word\t[1]",
        "word\t3",
        'word\t{"noun": 1',
        'word\t{"noun": NaN}',
        'word\t{"noun": 1e999}',
        'word\t{"noun": true}',
        'word\t{"noun": "1"}',
        'word\t{"noun": {"a": 1}}',
        'word\t{"noun": 1, "noun": 2}',
        "word\t" + "[" * 100_000,
        'word\t{"noun": ' + "9" * 5000 + "}",
        'word\t{"noun": ' + "9" * 400 + "}",
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: str):
    path = put(tmp_path, 'cat\t{"noun": 1}', line)
    with pytest.raises(InputError) as caught:
        read_oracle(path, EvalOptions())
    assert_one_line(caught, "oracle.tsv line 2", "feature")
    assert len(str(caught.value)) < 400


def test_an_oracle_without_known_words_is_rejected(tmp_path: Path, using: Context):
    task = read_oracle(put(tmp_path, 'chat\t{"noun": 1}'), EvalOptions())
    with pytest.raises(InputError) as caught:
        task.answer(Vectors(["cat"], np.ones((1, 2), np.float32)), using)
    assert_one_line(caught, "oracle.tsv", "none of its words has a vector", "check the language")
    with pytest.raises(InputError) as caught:
        task.answer(Vectors(["chat"], np.full((1, 2), np.nan, np.float32)), using)
    assert_one_line(caught, "vector is zero or not finite: 1); train again")


def test_a_feature_matrix_above_the_memory_limit_is_rejected(tmp_path: Path):
    lines = [f'w{k}\t{{"f{k}": 1}}' for k in range(2000)]
    task = read_oracle(put(tmp_path, *lines), EvalOptions())
    vectors = Vectors([f"w{k}" for k in range(2000)], np.ones((2000, 2), np.float32))
    with (
        open_context(RunOptions(threads=1, memory=0.1)) as small,
        pytest.raises(InputError) as caught,
    ):
        task.answer(vectors, small)
    assert_one_line(caught, "oracle.tsv", "--memory", "2,000 words × 2,000 features")


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(
            lambda word: word == word.strip()
        ),
        st.dictionaries(st.text(), st.floats(-1e6, 1e6)),
        min_size=1,
    )
)
def test_oracles_round_trip(tmp_path_factory: pytest.TempPathFactory, oracle):
    path = tmp_path_factory.mktemp("o") / "set.oracle.tsv"
    lines = (f"{word}\t{json.dumps(weights)}\r\n" for word, weights in oracle.items())
    path.write_bytes(b"\xef\xbb\xbf" + "".join(lines).encode("utf-8"))
    task = read_oracle(path, EvalOptions())
    if not next(iter(oracle)).startswith("\ufeff"):
        assert dict(zip(task.words, task.features, strict=True)) == oracle
