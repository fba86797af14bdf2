"""Measures of change: co-occurrences by brute force, level and power of p, invariances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from drifting import opened
from matrices import to_csr
from scipy.stats import binom

from wordgeom.core.errors import InputError, OptionError, RankError, UnavailableError
from wordgeom.core.types import Array, Int64
from wordgeom.drift.co_occurrences import with_contexts
from wordgeom.drift.measures import gbu, neighbours, pmi, procrustes, sgns
from wordgeom.drift.measures.passages import Passages, split_time
from wordgeom.drift.measures.results import cosine_distances
from wordgeom.matrices.document_term import Document
from wordgeom.vectors.nearest import unit_vectors


def passages_of(X: Array, lines: Array | Sequence[int], late: Array | Sequence[bool]) -> Passages:
    documents = [Document(1, int(line), "", "") for line in lines]
    return Passages.of(to_csr(np.asarray(X, np.uint32)), documents, np.asarray(late, bool))


def topical(
    rng: np.random.Generator, D: int, V: int, *, moved: int = 0, boosted: int = 0
) -> Passages:
    """Documents of one to five passages of 60 tokens, half of them late.

    The first `moved` words swap their topics in the late half; the next `boosted` ones are 8 times
    as frequent there.
    """
    topics = rng.dirichlet(np.full(V, 0.15), 6)
    later = topics.copy()
    later[:, :moved] = np.roll(later[:, :moved], 3, axis=0)
    later[:, moved : moved + boosted] *= 8.0
    later /= later.sum(axis=1, keepdims=True)
    late = rng.permutation(np.arange(D) % 2 == 0)
    rows: list[Array] = []
    lines: list[int] = []
    for d in range(D):
        share = rng.dirichlet(np.full(6, 0.3)) @ (later if late[d] else topics)
        rows += [rng.multinomial(60, share) for _ in range(rng.integers(1, 6))]
        lines += [d + 1] * (len(rows) - len(lines))
    return passages_of(np.array(rows), lines, late[np.array(lines) - 1])


def usable(passages: Passages, least: int = 20) -> Int64:
    return np.flatnonzero(passages.uses().min(axis=0) >= least)


def brute(passages: Passages, X: Array, late: Array) -> Array:
    """Co-occurrences of all words, token by token."""
    V = X.shape[1]
    C = np.zeros((V, V))
    for row, d in zip(X, passages.documents, strict=True):
        tokens = np.repeat(np.arange(V), row)
        for i, a in enumerate(tokens):
            for j, b in enumerate(tokens):
                C[a, b] += bool(i != j and late[d])
    return C


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def test_co_occurrences_are_those_of_pairs_of_tokens_in_a_passage(rng):
    X = rng.poisson(0.7, (14, 9))
    lines = np.sort(rng.integers(1, 7, 14))
    found = passages_of(X, lines, lines % 2 == 0)
    chosen = np.array([0, 3, 4, 8])
    with opened() as context:
        for late in (found.late, ~found.late):
            C = brute(found, X, late)
            words = np.arange(9)
            made = pmi.co_occurrences(found, words, *with_contexts(found.X, chosen), late, context)
            np.testing.assert_array_equal(made, C[:, chosen])
            np.testing.assert_array_equal(found.pairs(late), C.sum(axis=1))
            with np.errstate(divide="ignore", invalid="ignore"):
                G = np.maximum(np.log(C * C.sum() / np.outer(C.sum(1), C.sum(0))), 0.0)
            vectors = pmi.ppmi_vectors(found, words, chosen, late, context)
            np.testing.assert_allclose(vectors, np.nan_to_num(G)[:, chosen], atol=1e-6)


def test_rows_of_one_line_are_one_document(rng):
    found = passages_of(rng.poisson(2.0, (6, 4)), [3, 3, 5, 6, 6, 6], np.arange(6) == 2)
    assert found.documents.tolist() == [0, 0, 1, 2, 2, 2]
    assert found.late.tolist() == [False, True, False]
    assert found.starts.tolist() == [0, 2, 3, 6]
    other = [Document(k, 1, "", "") for k in (1, 2, 2)]  # the first line of two files
    X = to_csr(np.ones((3, 2), np.uint32))
    assert Passages.of(X, other, np.array([True, False, False])).documents.tolist() == [0, 1, 1]


def test_the_distance_that_is_permuted_is_that_of_the_ppmi_vectors(rng):
    found = topical(rng, 80, 30)
    words = usable(found, 5)
    chosen = pmi.most_frequent(found, 20)
    with opened() as context:
        test = pmi._Test(found, chosen, 3, 1)
        distances = [test.word(int(word))[0] for word in words]
        measured = pmi.measure(found, words, 20, 3, context)
    np.testing.assert_allclose(distances, measured.distances, atol=1e-5)


def test_a_permutation_of_documents_is_that_of_their_sums(rng):
    """The distances of permuted labels equal those of passages whose documents moved."""
    found = topical(rng, 40, 12)
    word, chosen = int(usable(found)[0]), np.arange(12)
    test = pmi._Test(found, chosen, 5, 1)
    holds = np.unique(found.documents[np.flatnonzero(found_rows(found, word))])
    generator = np.random.default_rng([1, word])
    groups, sizes = pmi.clusters(found.late[holds], generator)
    labels = pmi.permuted_labels(*sizes, 5, generator)
    wanted = []
    for row in labels:
        late = found.late.copy()
        late[holds] = row[groups] > 0.5
        moved = Passages(found.X, found.documents, late)
        with opened() as context:
            then, now = (
                unit_vectors(pmi.ppmi_vectors(moved, np.array([word]), chosen, mask, context))
                for mask in (~late, late)
            )
        wanted.append(float(cosine_distances(then, now)[0]))
    distance, p = test.word(word)
    assert distance == pytest.approx(wanted[0], abs=1e-5)
    assert p == pytest.approx(np.mean(np.array(wanted) >= wanted[0] - 1e-5))


def found_rows(passages: Passages, word: int) -> Array:
    return np.asarray(np.isin(np.arange(passages.X.rows), rows_of(passages, word)))


def rows_of(passages: Passages, word: int) -> Array:
    words = passages.words
    return words.indices[words.indptr[word] : words.indptr[word + 1]]


@pytest.mark.parametrize(
    ("before", "after"), [(3, 5), (200, 200), (900, 700), (5000, 30), (2, 4000), (0, 9), (7, 0)]
)
def test_clusters_have_one_size_and_stay_within_a_period(rng, before, after):
    late = rng.permutation(np.arange(before + after) < after)
    groups, sizes = pmi.clusters(late, rng)
    counts = np.bincount(groups, minlength=2 + sum(sizes))
    assert counts.sum() == before + after
    assert len(set(counts[2:].tolist())) <= 1
    assert sum(sizes) <= max(pmi._MOST, 2)
    assert min(sizes) >= min(before, after, pmi._LEAST)
    is_late = (groups == 1) | (groups >= 2 + sizes[0])
    np.testing.assert_array_equal(is_late, late)
    labels = pmi.permuted_labels(*sizes, 9, rng)
    np.testing.assert_array_equal(labels[0][groups] > 0.5, late)
    assert (labels[:, groups].sum(axis=1) == after).all()  # as many documents as there are


def test_p_of_pmi_keeps_its_level_on_documents_that_are_alike():
    p = []
    with opened(2) as context:
        for seed in range(80):  # one word of each, since words of one corpus depend on each other
            found = topical(np.random.default_rng(seed), 60, 20)
            words = usable(found)
            word = words[seed % len(words)][None]
            p.append(float(pmi.measure(found, word, 20, 99, context).p[0]))
    for level in (0.05, 0.25, 0.5):
        hits = sum(value <= level for value in p)
        assert binom.cdf(hits, len(p), level) > 0.005
        assert binom.sf(hits - 1, len(p), level) > 0.005


def test_pmi_finds_planted_change(rng):
    found = topical(rng, 300, 120, moved=4)
    words = usable(found)
    with opened(4) as context:
        measured = pmi.measure(found, words, 120, 199, context)
    assert measured.permutations == 199
    moved = words < 4
    assert np.mean(measured.p[moved] == 1 / 200) >= 0.75
    assert np.mean(measured.p[~moved] <= 0.05) < 0.2


def test_a_word_that_only_becomes_more_frequent_has_not_changed():
    shares = []
    for seed in range(4):
        found = topical(np.random.default_rng(seed), 200, 120, boosted=6)
        words = usable(found)
        uses = found.uses()[:, :6].sum(axis=1)
        assert uses[1] > 3 * uses[0]
        with opened(4) as context:
            p = pmi.measure(found, words, 120, 99, context).p
        shares.append(np.mean(p[words < 6] <= 0.05))
    assert np.mean(shares) < 0.15


def test_gbu_and_sgns_rank_planted_change_first(rng):
    pytest.importorskip("gensim", reason="gensim is not installed")
    found = topical(rng, 300, 40, moved=3)
    words = usable(found)
    with opened(2) as context:
        built = gbu.measure(found, words, 5, 19, context)
        trained = sgns.measure(found, [f"w{k}" for k in range(40)], words, 10, context)
    top = set(words[np.argsort(-built.distances)[:6]].tolist())
    assert len(top & {0, 1, 2}) >= 2
    assert built.p[words < 3].min() == 1 / 20
    assert np.mean(built.p[words >= 3] <= 0.05) < 0.3
    assert np.isnan(trained.p).all()
    assert trained.permutations == 0
    ranks = np.argsort(np.argsort(-trained.distances))
    assert ranks[words < 3].mean() < len(words) / 3


def test_results_are_the_same_at_any_number_of_threads(rng):
    pytest.importorskip("gensim", reason="gensim is not installed")
    found = topical(rng, 60, 30)
    words, names = usable(found), [f"w{k}" for k in range(30)]
    A, B = rng.normal(size=(2, 700, 8))
    made = []
    for threads in (1, 3):
        with opened(threads) as context:
            made.append([
                pmi.measure(found, words, 20, 19, context),
                gbu.measure(found, words, 4, 5, context),
                sgns.measure(found, names, words, 6, context),
                neighbours.measure(A, B, 600, 20, context),
            ])  # fmt: skip
    for one, other in zip(*made, strict=True):
        assert one.distances.tobytes() == other.distances.tobytes()
        assert one.p.tobytes() == other.p.tobytes()


def test_without_gensim_sgns_says_so(rng, monkeypatch):
    found = topical(rng, 30, 10)
    monkeypatch.setitem(__import__("sys").modules, "gensim.models", None)
    with opened() as context, pytest.raises(UnavailableError, match="--measure sgns needs gensim"):
        sgns.measure(found, [f"w{k}" for k in range(10)], usable(found), 4, context)


def test_more_dimensions_than_words_are_refused(rng):
    found = topical(rng, 30, 10)
    with opened() as context, pytest.raises(RankError, match="--dim 100 exceeds the number"):
        gbu.measure(found, usable(found), 100, 9, context)


def rotated(rng: np.random.Generator, K: int) -> Array:
    return np.asarray(np.linalg.qr(rng.normal(size=(K, K)))[0])


def test_procrustes_ignores_rotations_and_lengths(rng):
    A, B = rng.normal(size=(2, 200, 12))
    A[:150] = B[:150] @ rotated(rng, 12)
    wanted = procrustes.distances(unit_vectors(A), unit_vectors(B))
    lengths = rng.uniform(0.1, 9.0, 200)[:, None]
    found = procrustes.distances(unit_vectors(lengths * (A @ rotated(rng, 12))), unit_vectors(B))
    np.testing.assert_allclose(found, wanted, atol=1e-10)
    assert wanted[:150].max() < wanted[150:].min()


def test_an_alignment_needs_more_words_than_dimensions(rng):
    A, B = unit_vectors(rng.normal(size=(9, 9))), unit_vectors(rng.normal(size=(9, 9)))
    with pytest.raises(InputError, match="more common words than dimensions, found 9"):
        procrustes.measure(A, B, procrustes.METHOD)


def test_neighbours_ignore_rotations_and_lengths_and_count_common_ones(rng):
    A = rng.normal(size=(300, 6))
    B = A + 0.3 * rng.normal(size=A.shape)
    with opened() as context:

        def of(then, now):
            units = unit_vectors(then), unit_vectors(now)
            return neighbours.measure(*units, 250, 10, context).distances

        wanted = of(A, B)
        lengths = rng.uniform(0.1, 9.0, 300)[:, None]
        np.testing.assert_array_equal(of(lengths * (A @ rotated(rng, 6)), B), wanted)
        np.testing.assert_array_equal(of(A, A @ rotated(rng, 6)), 0.0)
    for row in (0, 7, 299):  # by sorting all cosines
        near = []
        for units in (unit_vectors(A), unit_vectors(B)):
            cosines = units[row] @ units[:250].T
            order = [k for k in np.argsort(-cosines).tolist() if k != row]
            near.append(set(order[:10]))
        assert wanted[row] == pytest.approx(1 - len(near[0] & near[1]) / 10)


def test_neighbours_need_words_to_choose_from(rng):
    units = unit_vectors(rng.normal(size=(1500, 4)))
    with opened() as context, pytest.raises(InputError, match="pass --nearest 150"):
        neighbours.measure(units, units, 20_000, 1000, context)


def test_the_split_halves_the_tokens():
    X = to_csr(np.array([[5], [5], [1], [1], [20]], np.uint32))
    assert split_time(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), X, None) == 5.0
    assert split_time(np.array([5.0, 1.0, 1.0, 1.0, 1.0]), X, None) == 5.0
    assert split_time(np.array([1950.0, 1951.0, 1952.0, 1953.0, 1954.0]), X, "1951-01-01") == 1951.0
    with pytest.raises(InputError, match="all documents have the same time, 7"):
        split_time(np.full(5, 7.0), X, None)
    for given in ("1", "0.5", "5.5"):
        with pytest.raises(OptionError, match="leaves a period without documents"):
            split_time(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), X, given)
    with pytest.raises(OptionError, match="--split must be a time"):
        split_time(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), X, "then")


def test_longer_passages_in_one_period_are_noted(rng):
    short, long = rng.multinomial(20, [0.1] * 10, 8), rng.multinomial(60, [0.1] * 10, 8)
    lines = range(1, 17)
    both = passages_of(np.vstack([short, long]), lines, [False] * 8 + [True] * 8)
    assert "passages have 20 tokens then and 60 now" in both.remarks()[0]
    even = passages_of(np.vstack([short, short]), lines, [False] * 8 + [True] * 8)
    assert even.remarks() == []
