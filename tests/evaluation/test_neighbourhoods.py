"""Neighbourhoods: against scikit-learn and brute force, ties, words in one file only, samples."""

from __future__ import annotations

import json
import re
from itertools import permutations, product

import numpy as np
import pytest
from sklearn.manifold import trustworthiness

import wordgeom as wg
from wordgeom.cli import main
from wordgeom.core.errors import InputError
from wordgeom.evaluation.common_words import UNDRAWN, UNUSABLE
from wordgeom.evaluation.neighbourhoods import COLUMNS, largest_sum
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.reference import Reference
from wordgeom.evaluation.word_lookup import MISSING, SAME
from wordgeom.linalg.device import open_context
from wordgeom.methods.tsm.landmarks import choose_landmarks
from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors.keyed import Vectors, write_vectors

EUCLIDEAN = {"metric": "euclidean", "reference_metric": "euclidean"}


def words_of(n, first=0):
    return [f"word{k}" for k in range(first, first + n)]


@pytest.fixture
def answered(tmp_path):
    """Answers of a map (n × m) to a reference (n × d), with words."""

    def answer(mapped, reference, words=None, others=None, threads=2, memory=1.0, **options):
        mapped, reference = (np.asarray(each, np.float32) for each in (mapped, reference))
        path = tmp_path / "reference.bin"
        write_vectors(path, others or words_of(len(reference)), reference)
        vectors = Vectors(words or words_of(len(mapped)), mapped)
        task = Reference(str(path), EvalOptions(**options))
        with open_context(RunOptions(threads=threads, memory=memory, seed=3)) as context:
            return task.answer(vectors, context)

    return answer


def means(answers):
    """Recall, trustworthiness and continuity."""
    return [answers.score(measure) for measure in answers.measures[:COLUMNS]]


def ranks(answers):
    """Recall, trustworthiness and continuity of each word."""
    return answers.given[:, :COLUMNS]


def cloud(n, d, seed):
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


def ranks_of(distances, order):
    """Ranks of one word's neighbours, with ties in the order given."""
    ranks = np.empty(len(distances))
    ranks[sorted(order, key=lambda j: distances[j])] = np.arange(1, len(order) + 1)
    return ranks


def brute(mapped, reference, k):
    """Expected recall, trustworthiness and continuity over every order of ties, word by word."""
    n, values = len(mapped), []
    for i in range(n):
        others = [j for j in range(n) if j != i]
        ours, theirs = (
            [float(np.sum((np.float64(points[i]) - np.float64(points[j])) ** 2)) for j in others]
            for points in (mapped, reference)
        )
        cases = []
        orders = list(permutations(range(n - 1)))
        made = [{tuple(ranks_of(each, order)) for order in orders} for each in (ours, theirs)]
        for pair in product(*made):
            r, s = (np.array(ranks) for ranks in pair)
            late = [np.maximum(s - k, 0)[r <= k].sum(), np.maximum(r - k, 0)[s <= k].sum()]
            worst = np.sort(np.maximum(np.arange(1, n) - k, 0))[-k:].sum()
            cases.append([np.sum((r <= k) & (s <= k)) / k, *(1 - np.array(late) / worst)])
        values.append(np.mean(cases, axis=0))
    return np.array(values)


@pytest.mark.parametrize("k", [1, 5, 15, 49])
def test_trustworthiness_and_continuity_are_those_of_scikit_learn(answered, k):
    reference = cloud(101, 7, 1)
    mapped = reference[:, :2] + 0.1 * cloud(101, 2, 2)
    found = answered(mapped, reference, neighbours=k, **EUCLIDEAN)
    _, trust, continuity = means(found)
    assert trust == pytest.approx(trustworthiness(reference, mapped, n_neighbors=k), abs=1e-12)
    assert continuity == pytest.approx(trustworthiness(mapped, reference, n_neighbors=k), abs=1e-12)


def test_the_reference_is_compared_by_cosine(answered):
    reference = cloud(60, 5, 3)
    mapped = reference[:, :2]
    scaled = reference * np.random.default_rng(4).uniform(0.01, 100, (60, 1))
    found = means(answered(mapped, scaled, neighbours=4))
    # scikit-learn ranks a point itself by its cosine too, which rounding may move
    unit = reference / np.linalg.norm(reference, axis=1, keepdims=True)
    assert found[1] == pytest.approx(trustworthiness(unit, mapped, n_neighbors=4), abs=1e-9)
    assert found[1] != pytest.approx(trustworthiness(scaled, mapped, n_neighbors=4))


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ties_count_at_their_expected_value(answered, k, seed):
    drawn = np.random.default_rng(seed)
    mapped, reference = (drawn.integers(0, 3, (6, 2)).astype(np.float32) for _ in range(2))
    found = answered(mapped, reference, neighbours=k, **EUCLIDEAN)
    np.testing.assert_allclose(ranks(found), brute(mapped, reference, k), atol=1e-12)


@pytest.mark.parametrize("n", [40, 200])  # fewer and more candidates than are scanned
def test_a_map_of_one_point_scores_as_chance_does(answered, n):
    found = answered(np.ones((n, 2)), cloud(n, 5, 1), neighbours=10)
    random = [means(answered(cloud(n, 2, seed), cloud(n, 5, 1), neighbours=10))
              for seed in range(30)]  # fmt: skip
    level = f"recall {means(found)[0]:.4f}, trustworthiness and continuity {means(found)[1]:.4f}"
    assert any(level in note for note in found.notes)
    assert means(found)[0] == pytest.approx(10 / (n - 1))
    np.testing.assert_allclose(means(found), np.mean(random, axis=0), atol=0.03)


def test_groups_of_identical_points_score_by_the_share_that_they_pin_down(answered):
    reference = cloud(300, 5, 1)
    mapped = np.repeat(cloud(3, 2, 2), 100, axis=0)
    both = np.repeat(cloud(3, 5, 3), 100, axis=0) + 1e-3 * reference
    recall = means(answered(mapped, both, neighbours=10, **EUCLIDEAN))[0]
    assert recall == pytest.approx(10 / 99)  # 99 equally near words for 10 places


def test_the_vectors_themselves_score_one(answered):
    points = cloud(80, 70, 5)
    assert means(answered(points, points, metric="cosine")) == pytest.approx([1, 1, 1])
    assert means(answered(points, points, **EUCLIDEAN)) == pytest.approx([1, 1, 1])


def test_words_are_matched_by_name_and_missing_ones_are_counted(answered):
    reference = cloud(50, 6, 1)
    mapped = reference[:, :2] + cloud(50, 2, 2)
    order = np.random.default_rng(1).permutation(50)[:40]
    words = [words_of(50)[k] for k in order]
    found = answered(
        np.vstack([mapped[order], np.ones((3, 2))]), reference, [*words, "only", "in", "map"]
    )
    kept = np.sort(order)
    expected = answered(mapped[kept], reference[kept])
    np.testing.assert_array_equal(ranks(found), ranks(expected))
    assert found.excluded == {MISSING: 10}
    assert found.total == 50
    assert "3 of 43 words of the vectors are not used" in found.notes


def test_words_are_found_in_nfc_and_used_once(answered):
    points = cloud(20, 3, 1)
    words = [*words_of(19), "caf\u00e9"]
    found = answered(points, points, words, [*words_of(18), "cafe\u0301", "caf\u00e9"],
                     neighbours=3, **EUCLIDEAN)  # fmt: skip
    assert found.excluded == {SAME: 1}
    assert len(found.items) == 19


def test_vectors_without_a_direction_are_left_out_by_cosine_only(answered):
    reference, mapped = cloud(40, 5, 1), cloud(40, 2, 2)
    reference[3] = 0
    mapped[4] = 0  # a point like any other
    mapped[5, 1] = np.nan
    reference[6, 0] = np.inf
    found = answered(mapped, reference, neighbours=5)
    assert found.excluded == {UNUSABLE: 3}
    kept = np.delete(np.arange(40), [3, 5, 6])
    np.testing.assert_array_equal(found.items, kept)
    expected = answered(mapped[kept], reference[kept], neighbours=5)
    np.testing.assert_array_equal(ranks(found), ranks(expected))
    assert answered(mapped, reference, neighbours=5, metric="cosine").excluded == {UNUSABLE: 4}


def test_a_sample_scores_some_words_among_all(answered):
    reference, mapped = cloud(200, 5, 1), cloud(200, 2, 2)
    every = answered(mapped, reference)
    some = answered(mapped, reference, reference_words=50)
    assert some.excluded == {UNDRAWN: 150}
    assert len(some.items) == 50
    np.testing.assert_array_equal(ranks(some), ranks(every)[some.items])
    assert answered(mapped, reference, reference_words=0).total == 200


def test_the_sample_is_not_what_a_training_with_the_same_seed_drew(answered):
    """Were it, vectors with random landmarks would be scored on their landmarks alone."""
    reference, seed = cloud(2000, 5, 1), 3
    some = answered(reference, reference, reference_words=400)
    with open_context(RunOptions(seed=seed)) as context:
        landmarks = choose_landmarks(reference, 400, "random", context)
    # Of 400 words, 80 are landmarks on average, with a standard deviation of 7.2.
    assert 40 < np.isin(some.items, landmarks).sum() < 120


def test_threads_row_order_and_scale_do_not_matter(answered):
    reference, mapped = cloud(150, 5, 1), np.round(cloud(150, 2, 2))  # with ties
    one = answered(mapped, reference, threads=1)
    np.testing.assert_array_equal(ranks(one), ranks(answered(mapped, reference, threads=3)))
    order = np.random.default_rng(2).permutation(150)
    words = words_of(150)
    moved = answered(mapped[order], reference, [words[k] for k in order])
    np.testing.assert_allclose(ranks(one), ranks(moved), atol=1e-12)
    np.testing.assert_array_equal(ranks(one), ranks(answered(1024 * mapped, reference / 64)))


def test_extreme_vectors_do_not_overflow(answered):
    reference, mapped = cloud(60, 5, 1), cloud(60, 2, 2)
    plain = answered(mapped, reference, neighbours=4)
    large = answered(mapped * np.float32(2.0**120), reference * np.float32(2.0**-120), neighbours=4)
    np.testing.assert_array_equal(ranks(plain), ranks(large))


def test_k_plus_2_words_are_needed(answered):
    points = cloud(7, 3, 1)
    assert len(answered(points, points, neighbours=5).items) == 7
    with pytest.raises(InputError, match=r"6 neighbours need 8 words .*7 in common"):
        answered(points, points, neighbours=6)
    with pytest.raises(InputError, match=r"0 in common .*words without a vector: 7"):
        answered(points, points, [f"other{k}" for k in range(7)])


def test_distances_that_exceed_the_memory_are_rejected(answered):
    with pytest.raises(InputError, match="memory limit"):
        answered(cloud(3000, 2, 1), cloud(3000, 3, 1), memory=0.001)


def test_the_largest_sum_is_that_of_the_worst_ranks():
    for n in range(3, 12):
        for k in range(1, n - 1):
            ranks = np.arange(1, n)
            assert largest_sum(n, k) == np.sort(np.maximum(ranks - k, 0))[-k:].sum()


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reference = cloud(60, 6, 1)
    write_vectors("vectors.bin", words_of(60), reference)
    write_vectors("map.bin", words_of(50, 5), reference[5:55, :2])
    write_vectors("noise.bin", words_of(60), cloud(60, 2, 9))
    return tmp_path


def test_the_command_prints_scores_with_intervals(files, capsys):
    command = ["eval", "map.bin", "--reference", "vectors.bin", "--neighbours", "5"]
    assert main(command) == 0
    plain = capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    measures = [score["measure"] for score in facts["scores"]]
    assert measures[:3] == ["recall at 5", "trustworthiness at 5", "continuity at 5"]
    for score in facts["scores"]:
        assert score["low"] < score["score"] < score["high"] <= 1
        assert (score["used"], score["total"]) == (50, 60)
        assert f"{score['score']:.4f}" in plain
    assert "vectors: left out: 10 (words without a vector)" in plain
    assert "case-insensitive" not in plain
    assert "wordsim353" not in plain  # gensim's sets are the default only without a reference


def test_the_function_and_compare_score_the_same(files, capsys):
    report = wg.score("map.bin", reference=["vectors.bin"], neighbours=5)
    assert report.scores[0].measure == "recall at 5"
    assert main(["compare", "map.bin", "noise.bin", "--reference", "vectors.bin",
                 "--neighbours", "5", "--json"]) == 0  # fmt: skip
    first, second = json.loads(capsys.readouterr().out)["rows"]
    assert first["scores"][0]["measure"] == "recall at 5"
    assert first["scores"][0]["score"] == pytest.approx(report.scores[0].value)
    assert second["differences"][0]["high"] < 0


def test_a_missing_reference_is_one_line(files, capsys):
    assert main(["eval", "map.bin", "--reference", "none.bin"]) == 1
    assert re.fullmatch(r"wordgeom: error: none\.bin: .*\n", capsys.readouterr().err)


def test_a_reference_may_come_from_an_earlier_table(files, capsys):
    (files / "steps.toml").write_text(
        '[transform]\nvectors = "vectors.bin"\nnormalise = true\nout = "new.bin"\n'
        '[eval]\nvectors = "map.bin"\nreference = "new.bin"\nneighbours = 5\n'
    )
    status = main(["run", "steps.toml"])
    assert status == 0, capsys.readouterr().err
    assert "recall at 5" in capsys.readouterr().out
