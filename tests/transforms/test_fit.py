"""Maps fitted to word pairs: gradients, planted maps, cross-validation, what is not a pair."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from wordgeom.transforms.fit.correlation import Judged, correlation
from wordgeom.transforms.fit.maps import LowRank, Triangular
from wordgeom.vectors.keyed import read_vectors, write_vectors

K, WORDS, PAIRS = 5, 60, 200


def judged(seed=0, hidden=None, noise=0.0):
    """Random unit vectors and pairs; scores: cosines after the map `hidden`."""
    draw = np.random.default_rng(seed)
    rows = draw.standard_normal((WORDS, K))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    left = draw.integers(0, WORDS, PAIRS)
    right = (left + draw.integers(1, WORDS, PAIRS)) % WORDS
    bare = Judged(rows, left, right, np.zeros(PAIRS), np.eye(K))
    scores = bare.cosines(np.eye(K) if hidden is None else hidden)
    return Judged(rows, left, right, scores + noise * draw.standard_normal(PAIRS), np.eye(K))


def finite_differences(function, at, step=1e-6):
    """The gradient of a function of an array."""
    made = np.zeros_like(at)
    for place in np.ndindex(at.shape):
        moved = np.zeros_like(at)
        moved[place] = step
        made[place] = (function(at + moved) - function(at - moved)) / (2 * step)
    return made


def test_the_gradient_of_the_correlation_equals_finite_differences():
    draw = np.random.default_rng(3)
    pairs = judged(noise=0.5)
    C = np.eye(K) + 0.3 * draw.standard_normal((K, K))
    _, gradient = correlation(pairs, C)
    expected = finite_differences(lambda at: correlation(pairs, at)[0], C)
    np.testing.assert_allclose(gradient, expected, atol=1e-8)


def test_the_correlation_is_pearsons():
    pairs = judged(noise=0.5)
    C = np.triu(np.ones((K, K)))
    z = pairs.cosines(C)
    assert correlation(pairs, C)[0] == pytest.approx(np.corrcoef(z, pairs.scores)[0, 1])


@pytest.mark.parametrize("family", [Triangular(K), LowRank(K, 2)])
def test_gradients_in_parameters_equal_finite_differences(family):
    pairs = judged(noise=0.5)
    at = family.start(pairs) + 0.1 * np.random.default_rng(1).standard_normal(
        len(family.start(pairs))
    )
    pulled = family.pulled(at, correlation(pairs, family.matrix(at))[1])
    expected = finite_differences(lambda p: correlation(pairs, family.matrix(p))[0], at)
    np.testing.assert_allclose(pulled, expected, atol=1e-8)


@pytest.mark.parametrize("family", [Triangular(K), LowRank(K, 2)])
def test_a_planted_map_is_found_up_to_rotation_and_scale(family):
    draw = np.random.default_rng(5)
    if isinstance(family, Triangular):
        hidden = np.eye(K) + 0.5 * np.triu(draw.standard_normal((K, K)))
    else:
        hidden = np.eye(K) + draw.standard_normal((K, 2)) @ draw.standard_normal((2, K))
    pairs = judged(hidden=hidden)
    made = family.matrix(family.fit(pairs, 1e-8, family.start(pairs)))
    assert correlation(pairs, made)[0] > 0.999


def test_a_penalty_protects_the_directions_that_other_words_use():
    draw = np.random.default_rng(6)
    hidden = np.eye(K) + 0.5 * np.triu(draw.standard_normal((K, K)))
    pairs = judged(hidden=hidden)
    spread = np.diag([1.0, 1, 1, 1, 100])
    held = Judged(pairs.rows, pairs.left, pairs.right, pairs.scores, spread)
    family = Triangular(K)
    free, kept = (family.matrix(family.fit(one, 0.1, family.start(one))) for one in (pairs, held))
    moved = [np.linalg.norm((C - np.eye(K))[:, 4]) for C in (free, kept)]
    assert moved[1] < 0.1 * moved[0]


# --- the command

NAMES = [f"noun{k}" for k in range(WORDS)]


def write_pairs(path, pairs, *, lines=()):
    """A file of word pairs, tab-separated, with CRLF."""
    own = [f"{NAMES[a]}\t{NAMES[b]}\t{s:.4f}" for a, b, s in
           zip(pairs.left, pairs.right, pairs.scores, strict=True)]  # fmt: skip
    Path(path).write_bytes("".join(f"{line}\r\n" for line in [*own, *lines]).encode())


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Vectors, pairs whose scores come from an upper triangular map, and a second set of them."""
    monkeypatch.chdir(tmp_path)
    hidden = np.eye(K) + 0.8 * np.triu(np.random.default_rng(5).standard_normal((K, K)))
    pairs = judged(hidden=hidden, noise=0.05)
    write_vectors("in.bin", NAMES, pairs.rows.astype(np.float32))
    write_pairs("pairs.tsv", pairs)
    other = judged(seed=0, hidden=hidden)
    draw = np.random.default_rng(9)
    left = draw.integers(0, WORDS, PAIRS)
    right = (left + draw.integers(1, WORDS, PAIRS)) % WORDS
    fresh = Judged(other.rows, left, right, np.zeros(PAIRS), np.eye(K))
    fresh = Judged(other.rows, left, right, fresh.cosines(hidden), np.eye(K))
    write_pairs("fresh.tsv", fresh)
    return pairs


def statistics(out="out.bin"):
    """Those of a run card."""
    return json.loads(Path(f"{out}.json").read_text(encoding="utf-8"))["statistics"]


@pytest.mark.parametrize("map", ["diagonal", "triangular", "low-rank"])
def test_fit_improves_pairs_that_it_did_not_see(planted, ask, map):
    done = ask("transform", "in.bin", "-o", "out.bin", "--fit", "pairs.tsv", "--map", map,
               "--report", "fresh.tsv")  # fmt: skip
    assert done.status == 0, done.err
    facts = statistics()
    step = facts["steps"]["fit"]
    assert step["correlation"] > step["correlation_before"]
    assert step["penalty"] in step["penalties"][1:]
    assert len(step["held_out"]) == len(step["penalties"])
    report = {row["measure"]: row for row in facts["report"]}
    assert report["spearman"]["low"] > 0
    assert "fresh" in done.out
    again = ask("transform", "in.bin", "-o", "out.bin", "--fit", "pairs.tsv", "--map", map,
                "--report", "fresh.tsv")  # fmt: skip
    assert again.out.startswith("out.bin: up to date\n")
    assert again.out.splitlines()[1:] == done.out.splitlines()[1:]
    assert done.out.splitlines()[1].startswith("--fit: penalty ")


def test_the_map_is_upper_triangular_with_a_positive_diagonal(planted, ask):
    how = "--fit", "pairs.tsv", "--map", "triangular"
    assert ask("transform", "in.bin", "-o", "out.bin", *how).status == 0
    before, after = (read_vectors(path).matrix for path in ("in.bin", "out.bin"))
    R = np.linalg.lstsq(before, after, rcond=None)[0].T
    np.testing.assert_allclose(np.tril(R, -1), 0, atol=1e-5)
    assert (np.diag(R) > 0).all()


def test_scores_without_a_pattern_leave_the_vectors_as_they_are(planted, ask):
    draw = np.random.default_rng(11)
    scores = draw.standard_normal(PAIRS)
    noise = Judged(planted.rows, planted.left, planted.right, scores, np.eye(K))
    write_pairs("noise.tsv", noise)
    done = ask("transform", "in.bin", "-o", "out.bin", "--fit", "noise.tsv")
    assert done.status == 0
    displacement = statistics()["steps"]["fit"]["displacement"]
    assert displacement < 0.01
    assert displacement or "the vectors stay as they are" in done.err


def test_pairs_that_were_used_are_left_out_of_the_report_in_either_order(planted, ask):
    lines = Path("pairs.tsv").read_text(encoding="utf-8").split()
    swapped = [f"{b.upper()} {a} {s}" for a, b, s in zip(*[iter(lines[:90])] * 3, strict=True)]
    fresh = Path("fresh.tsv").read_text(encoding="utf-8").replace("\t", " ").splitlines()
    unique = {tuple(sorted(line.split()[:2])) for line in
              Path("pairs.tsv").read_text(encoding="utf-8").splitlines()}  # fmt: skip
    fresh = [line for line in fresh if tuple(sorted(line.split()[:2])) not in unique]
    Path("mixed.txt").write_text("\n".join([*swapped, *fresh]) + "\n", encoding="utf-8")
    done = ask("transform", "in.bin", "-o", "out.bin", "--fit", "pairs.tsv", "--report",
               "mixed.txt")  # fmt: skip
    assert done.status == 0, done.err
    assert f"mixed: 30 of {len(swapped) + len(fresh)} pairs left out" in done.err
    assert statistics()["report"][0]["used"] == len(fresh)


def test_a_report_on_nothing_but_used_pairs_is_refused(planted, ask):
    done = ask("transform", "in.bin", "-o", "out.bin", "--fit", "pairs.tsv", "--report",
               "pairs.tsv")  # fmt: skip
    assert done.status == 1
    assert done.err.count("\n") == 1
    assert "every pair of the --report sets was used" in done.err
    assert not Path("out.bin").exists()


def test_a_reported_set_without_a_score_says_why(planted, ask):
    Path("two.txt").write_text("noun1 noun2 1\nnoun3 noun4 2\n", encoding="utf-8")
    Path("same.txt").write_text("noun1 noun2 1\nnoun3 noun4 1\nnoun5 noun6 1\n", encoding="utf-8")
    done = ask("transform", "in.bin", "-o", "out.bin", "--center", "--report", "two.txt",
               "--report", "same.txt")  # fmt: skip
    assert done.status == 0
    assert "two: no correlation: only 2 pairs can be scored" in done.err
    assert "same: no correlation: all scores are equal" in done.err


def test_pairs_without_vectors_repeated_and_contradictory_are_counted(planted, ask):
    extra = ["noun1\tnoun2\t1", "NOUN2\tnoun1\t3", "noun3\tnoun3\t9", "Wörter\tnoun1\t2"]
    write_pairs("pairs.tsv", planted, lines=extra)
    rows = {tuple(sorted(pair)) for pair in zip(planted.left, planted.right, strict=True)}
    assert (1, 2) not in rows
    done = ask("transform", "in.bin", "-o", "out.bin", "--fit", "pairs.tsv")
    assert done.status == 0, done.err
    facts = statistics()["steps"]["fit"]
    assert facts["read"] == PAIRS + 4
    assert (facts["missing"], facts["same_word"]) == (1, 1)
    assert facts["pairs"] == len(rows) + 1
    assert facts["repeated"] == PAIRS - len(rows) + 1
    assert "1 pair has a word without a vector" in done.err
    assert "1 pair of a word with itself left out" in done.err


@pytest.mark.parametrize(
    ("lines", "say"),
    [
        (["noun1 noun2 1", "noun3 noun4 2", "no body 3"], "word without a vector: 1); add"),
        (["noun1 noun1 1", "noun2 noun2 2", "noun3 noun3 3"], "of a word with itself: 3); add"),
        (["noun1 noun2 4", "noun3 noun4 4", "noun5 noun6 4"], "the scores of all 3 usable pairs"),
        (["noun1 noun2 1", "noun2 noun1 2", "noun3 noun4 4"], "found 2 of 3"),
        (["noun1 noun2 1", "noun0 noun4 2", "noun3 noun0 4"], "found 1 of 3"),
    ],
)
def test_too_few_or_constant_pairs_are_errors(planted, ask, lines, say):
    rows = planted.rows.astype(np.float32)
    rows[0] = 0
    write_vectors("in.bin", NAMES, rows)
    Path("few.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for options in (("--fit", "few.txt"), ("--power", "best", "--power-pairs", "few.txt")):
        done = ask("transform", "in.bin", "-o", "out.bin", *options)
        assert done.status == 1
        assert done.err.count("\n") == 1
        assert say in done.err
        assert "few.txt" in done.err


def test_a_handful_of_pairs_has_a_fixed_penalty_and_a_note(planted, ask):
    Path("few.txt").write_text("noun1 noun2 1\nnoun3 noun4 2\nnoun5 noun7 4\n", encoding="utf-8")
    done = ask("transform", "in.bin", "-o", "out.bin", "--fit", "few.txt")
    assert done.status == 0, done.err
    assert "3 pairs cannot be cross-validated by folds of words" in done.err


def test_the_best_power_is_that_of_a_search_over_dense_algebra(planted, ask):
    from scipy.stats import spearmanr

    done = ask("transform", "in.bin", "-o", "out.bin", "--power", "best", "--power-pairs",
               "fresh.tsv")  # fmt: skip
    assert done.status == 0, done.err
    step = statistics()["steps"]["power"]
    x = read_vectors("in.bin").matrix.astype(np.float64)
    U, s, _ = np.linalg.svd(x, full_matrices=False)
    lines = [line.split() for line in Path("fresh.tsv").read_text(encoding="utf-8").splitlines()]
    pairs: dict[tuple[int, ...], list[float]] = {}
    for a, b, judged in lines:
        pairs.setdefault(tuple(sorted((NAMES.index(a), NAMES.index(b)))), []).append(float(judged))
    rows, scores = np.array(list(pairs)), [np.mean(each) for each in pairs.values()]

    def score(power):
        made = U * s**power
        made /= np.linalg.norm(made, axis=1)[:, None]
        return spearmanr(np.sum(made[rows[:, 0]] * made[rows[:, 1]], axis=1), scores)[0]

    assert step["after"] == pytest.approx(max(score(p) for p in np.arange(-100, 301) / 100))
    assert step["after"] == pytest.approx(score(step["power"]))
    assert step["before"] == pytest.approx(score(1.0))


@pytest.mark.parametrize("map", ["diagonal", "triangular"])
def test_fitted_bytes_do_not_depend_on_threads(planted, ask, map):
    for threads in "1", "3":
        ask("transform", "in.bin", "-o", f"{threads}.bin", "--fit", "pairs.tsv", "--map", map,
            "--threads", threads)  # fmt: skip
    assert Path("1.bin").read_bytes() == Path("3.bin").read_bytes()


def test_python_transforms_a_model_without_changing_it(planted):
    import wordgeom as wg

    before = read_vectors("in.bin")
    keyed = wg.load_vectors("in.bin")
    made = wg.transform(keyed, normalise=True, fit="pairs.tsv", report=["fresh.tsv"])
    np.testing.assert_array_equal(keyed.vectors, before.matrix)
    assert made.statistics["report"][0]["change"] > 0
    written = wg.transform("in.bin", out="out.bin", normalise=True, fit="pairs.tsv")
    np.testing.assert_array_equal(written.vectors, made.vectors)
    again = wg.transform("in.bin", out="out.bin", normalise=True, fit="pairs.tsv")
    np.testing.assert_array_equal(again.vectors, made.vectors)
    with pytest.raises(wg.WordgeomError, match=r"power='?best'?.* needs word pairs|power"):
        wg.transform("in.bin", power="best")
