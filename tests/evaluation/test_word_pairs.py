"""Intervals of analogies against the true accuracy, where questions share word pairs."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from wordgeom.evaluation.analogies import MEASURES, read_analogies
from wordgeom.evaluation.answers import Answers, difference, scores
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.word_pairs import WordPairs
from wordgeom.vectors.keyed import Vectors

MEANS = (-1.0, 0.0, 1.0)  # of the sections, as probits


def crossed(size):
    """All questions on `size` pairs in each of three sections, as in the Google set."""
    asked = [(s, a, c) for s in range(len(MEANS)) for a, c in permutations(range(size), 2)]
    words = [(f"a{s}-{a}", f"b{s}-{a}", f"a{s}-{c}", f"b{s}-{c}") for s, a, c in asked]
    return WordPairs.of(words, [f"section {s}" for s, _, _ in asked])


def normal(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def truth(effect, more=0.0):
    """The accuracy over all pairs: probits have variance 2 · effect² + 1."""
    scale = math.sqrt(1 + 2 * effect**2)
    return float(np.mean([normal((mean + more) / scale) for mean in MEANS]))


def answered(pairs, effect, rng, more=0.0, shared=None):
    """Answers whose probit is the section's mean, an effect of each of two pairs, and noise."""
    effects = effect * rng.standard_normal(pairs.pairs.max() + 1) if shared is None else shared
    probit = np.array(MEANS)[pairs.sections] + more + effects[pairs.pairs].sum(axis=1)
    right = probit + rng.standard_normal(len(probit)) > 0
    n = len(right)
    given = np.where(right, 1, 0)[:, None].repeat(2, axis=1)
    return Answers("analogies", "set", MEASURES, np.arange(n), given, np.ones(n), pairs=pairs)


def width(score):
    return score.high - score.low


def covered(found, true):
    return np.mean([score.low <= true <= score.high for score in found])


def test_the_interval_covers_the_accuracy_over_all_pairs():
    pairs, rng = crossed(12), np.random.default_rng(12)
    drawn = [answered(pairs, 0.5, rng) for _ in range(200)]
    by_pair = [scores(each, 200, 1)[0] for each in drawn]
    by_question = [scores(replace(each, pairs=None), 200, 1)[0] for each in drawn[:60]]
    assert 0.92 <= covered(by_pair, truth(0.5)) <= 0.99
    assert covered(by_question, truth(0.5)) < 0.7
    assert all(0 <= score.low < score.value < score.high <= 1 for score in by_pair)


def test_the_interval_of_a_difference_covers_the_difference_over_all_pairs():
    pairs, rng = crossed(16), np.random.default_rng(3)
    drawn = [[answered(pairs, 0.5, rng, more) for more in (0, 0.3)] for _ in range(200)]
    true = truth(0.5, 0.3) - truth(0.5)
    by_pair = [difference(one, other, MEASURES[0], 200, 1) for one, other in drawn]
    alone = [[replace(each, pairs=None) for each in both] for both in drawn[:60]]
    by_question = [difference(one, other, MEASURES[0], 200, 1) for one, other in alone]
    assert 0.92 <= covered(by_pair, true) <= 0.99
    assert covered(by_question, true) < 0.75


def test_pair_effects_that_both_models_share_cancel_in_a_difference():
    pairs, rng = crossed(16), np.random.default_rng(4)
    effects = rng.standard_normal(pairs.pairs.max() + 1)
    one, other = (answered(pairs, 0, rng, shared=effects) for _ in range(2))
    paired = difference(one, other, MEASURES[0], 500, 1)
    assert width(paired) < 0.6 * width(scores(one, 500, 1)[0])


def test_without_pair_effects_the_interval_is_at_most_root_three_times_as_wide():
    pairs, rng = crossed(16), np.random.default_rng(5)
    ratios = []
    for _ in range(20):
        each = answered(pairs, 0, rng)
        ratios.append(width(scores(each, 500, 1)[0]) / width(scores(replace(each, pairs=None),
                                                                    500, 1)[0]))  # fmt: skip
    assert 1.2 < np.mean(ratios) < math.sqrt(3)


@pytest.mark.parametrize("sections", [1, 40, 400])
def test_questions_without_shared_pairs_are_resampled_as_they_are(sections):
    words = [(f"a{k}", f"b{k}", f"c{k}", f"d{k}") for k in range(400)]
    pairs = WordPairs.of(words, [str(k % sections) for k in range(400)])
    values = np.random.default_rng(6).random(400)
    low, high = pairs.interval(values, 4000, 1)
    assert high - low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.05)
    repeated = WordPairs.of([(*w[:2], *w[:2]) for w in words], ["s"] * 400)
    low, high = repeated.interval(values, 4000, 1)
    assert high - low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.05)


def test_sections_keep_their_shares():
    pairs = crossed(12)
    values = np.array([0.0, 0.5, 1.0])[pairs.sections]  # constant in each section
    assert np.isnan(pairs.interval(values, 200, 1)).all()
    small = replace(pairs, sections=np.arange(len(values)))  # of one question each
    low, high = small.interval(values, 200, 1)
    assert low < 0.5 < high


@pytest.mark.parametrize("n", [0, 2])
def test_too_few_questions_have_no_interval(n):
    pairs = crossed(12).at(np.arange(n))
    assert np.isnan(pairs.interval(np.arange(n, dtype=float), 100, 1)).all()


def test_one_pair_has_one_number_in_any_spelling(tmp_path, using):
    path = tmp_path / "set.txt"
    lines = ["Zürich Schweiz Paris France", "paris france zu\u0308rich schweiz",
             "France Paris Schweiz Zürich", "roma italia Paris France"]  # fmt: skip
    path.write_text(": one\n" + "\n".join(lines[:2]) + "\n: two\n" + "\n".join(lines[2:]))
    words = ["zürich", "schweiz", "paris", "france", "roma", "italia"]
    vectors = Vectors(words, np.random.default_rng(1).random((6, 4), np.float32))
    found = read_analogies(path, EvalOptions()).answer(vectors, using)
    assert found.pairs is not None
    assert found.pairs.pairs.tolist() == [[0, 1], [1, 0], [1, 0], [2, 1]]
    assert found.pairs.sections.tolist() == [0, 0, 1, 1]
    exact = read_analogies(path, EvalOptions(case="exact", oov="zero"))
    rows = exact.answer(Vectors([*words, *lines[0].split()], np.ones((10, 2), np.float32)), using)
    assert rows.pairs is not None
    assert len(np.unique(rows.pairs.pairs)) == 5


def test_questions_that_one_model_cannot_answer_keep_the_pairs_of_the_others():
    pairs, rng = crossed(12), np.random.default_rng(8)
    one, other = (answered(pairs, 0.5, rng) for _ in range(2))
    kept = np.arange(0, len(one.items), 2)
    fewer = replace(
        one, items=kept, given=one.given[kept], gold=one.gold[kept], pairs=pairs.at(kept)
    )
    back = replace(other, given=other.given[kept], gold=other.gold[kept], items=kept,
                   pairs=pairs.at(kept))  # fmt: skip
    assert difference(other, fewer, MEASURES[0], 100, 1) == replace(
        difference(back, fewer, MEASURES[0], 100, 1), total=other.total
    )
