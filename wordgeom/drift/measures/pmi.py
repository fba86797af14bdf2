"""Cosine distance of a word's PPMI vectors in two periods, with p by permuted documents.

C_ij counts how often tokens of i and j stand in one passage; a token does not co-occur with itself.
PPMI is max(0, log(C_ij S / (C_i· C_·j))), each period by its own sums over all words; j runs over
the most frequent words.

For each word, the documents that contain it are dealt to the periods anew, as many to each as
there are. All other documents stay, so that the word's document frequency in each period is the
same in every permutation: a word that merely becomes more frequent has noisier vectors then than
now, and so it has in the permutations. Sums of the changed documents are made anew, which makes p
exact if the documents that contain the word are exchangeable between the periods. In a frequent
word, clusters of documents of one size are dealt instead of documents, and the few left over stay.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Csr, Float32, Float64, Int64
from wordgeom.drift.co_occurrences import add_contexts, ppmi, with_contexts
from wordgeom.drift.co_occurrences import most_frequent as frequent
from wordgeom.drift.measures import kernels
from wordgeom.drift.measures.passages import Passages
from wordgeom.drift.measures.results import Measured, cosine_distances, reached
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.vectors.nearest import unit_vectors

ASSUMPTION = (
    "the documents that contain a word are exchangeable between the periods; "
    "the number of them in each period is held"
)
_MOST, _LEAST = 250, 20  # clusters of documents of a word; and in the smaller period
_WORDS = 16  # of a block


def measure(
    passages: Passages, words: Int64, contexts: int, permutations: int, context: Context
) -> Measured:
    """Return the change of words (w): rows of the vocabulary with uses in both periods."""
    chosen = most_frequent(passages, contexts)
    needed = 40 * len(words) * len(chosen)
    check_memory("the PPMI vectors", needed, context.memory, "lower --contexts")
    test = _Test(passages, chosen, permutations, context.seed)
    with one_thread():
        found = context.pool.map(test.word, words.tolist())
        shown = context.progress.follow(found, "permutations", len(words), "words", lambda _: 1)
        p = np.array([value for _, value in shown]).reshape(-1)
    then, now = (
        unit_vectors(ppmi_vectors(passages, words, chosen, late, context))
        for late in (~passages.late, passages.late)
    )
    method = f"cosine distance of PPMI vectors over {len(chosen):,} context words"
    distances = cosine_distances(then, now)
    return Measured(distances, then, now, method, p, ASSUMPTION, permutations)


def most_frequent(passages: Passages, number: int) -> Int64:
    """Return the rows of the most frequent words, ascending."""
    return frequent(passages.uses().sum(axis=0), number)


def co_occurrences(
    passages: Passages, words: Int64, near: Csr, places: Int64, late: Array, context: Context
) -> Float64:
    """Return how often words co-occur with contexts (w × M) in the documents of a mask (D)."""
    out, chosen = np.zeros((len(words), near.columns)), late[passages.documents]

    def run(start: int) -> None:
        part = slice(start, start + _WORDS)
        add_contexts(words[part], passages.words, chosen, places, near, out[part])

    for _ in context.pool.map(run, range(0, len(words), _WORDS)):
        pass
    return out


def ppmi_vectors(
    passages: Passages, words: Int64, chosen: Int64, late: Array, context: Context
) -> Float32:
    """Return the PPMI vectors (w × M) of words in the documents of a mask (D)."""
    near, places = with_contexts(passages.X, chosen)
    counts = co_occurrences(passages, words, near, places, late, context)
    pairs = passages.pairs(late)
    return ppmi(counts, pairs[words], pairs[chosen], float(pairs.sum()))


class _Test:
    """The distances of a word with its documents in the periods as they are, and permuted."""

    def __init__(self, passages: Passages, chosen: Int64, permutations: int, seed: int) -> None:
        self._passages, self._permutations, self._seed = passages, permutations, seed
        self._contexts, self._places = with_contexts(passages.X, chosen)
        periods = [passages.pairs(late) for late in (~passages.late, passages.late)]
        self._pairs = periods[0] + periods[1]
        self._late_context, self._context = periods[1][chosen], self._pairs[chosen]
        self._late_total, self._total = float(periods[1].sum()), float(self._pairs.sum())

    def word(self, word: int) -> tuple[float, float]:
        """Return the distance and p of a word."""
        of, rng = self._passages, np.random.default_rng([self._seed, word])
        part = slice(of.words.indptr[word], of.words.indptr[word + 1])
        rows, counts = of.words.indices[part], of.words.data[part]
        documents = np.unique(of.documents[rows])
        groups, sizes = clusters(of.late[documents], rng)
        labels = permuted_labels(*sizes, self._permutations, rng)
        shape = labels.shape[1], self._contexts.columns
        near, context = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        sums, at = np.zeros((shape[0], 2)), self._contexts
        kernels.add_by_group(
            rows, counts, self._places[word], documents, groups, of.starts, of.lengths,
            at.indptr, at.indices, at.data, near, context, sums,
        )  # fmt: skip
        all_near = near.sum(axis=0, dtype=np.float64)
        active = np.flatnonzero(all_near > 0.0)
        late_context = context[:, active].astype(np.float64).T @ labels[0]
        out, wide = np.empty(len(labels)), labels.astype(np.float64)
        kernels.ppmi_distances(
            labels @ near[:, active], labels @ context[:, active], wide @ sums, all_near[active],
            self._context[active], self._late_context[active] - late_context,
            np.array([self._total, self._pairs[word]]), self._late_total - wide[0] @ sums[:, 0],
            out,
        )  # fmt: skip
        return float(out[0]), float(np.count_nonzero(reached(out, out[0])) / len(out))


def clusters(late: Array, rng: np.random.Generator) -> tuple[Int64, tuple[int, int]]:
    """Return the cluster of each document of a word (d), and the number of clusters by period.

    Clusters 0 and 1 hold the documents that stay in the first and in the second period; then come
    those of the first period, then those of the second, all of one size.
    """
    periods = [np.flatnonzero(late == period) for period in (False, True)]
    fewest = min(map(len, periods))
    size = max(1, min(-(-len(late) // _MOST), fewest // _LEAST))
    numbers = [len(period) // size for period in periods]
    if sum(numbers) > _MOST:
        larger = int(np.argmax(numbers))
        numbers[larger] = max(_MOST - numbers[1 - larger], 1)
    groups, first = np.empty(len(late), np.int64), 2
    for period, (rows, number) in enumerate(zip(periods, numbers, strict=True)):
        order = rng.permutation(rows)
        groups[order] = period
        groups[order[: number * size]] = first + np.arange(number * size) // size
        first += number
    return groups, (numbers[0], numbers[1])


def permuted_labels(
    before: int, after: int, permutations: int, rng: np.random.Generator
) -> Float32:
    """Return which clusters are in the second period (B + 1 × 2 + clusters), row 0 as observed."""
    labels = np.zeros((permutations + 1, 2 + before + after), np.float32)
    labels[:, 1] = 1.0
    labels[0, 2 + before :] = 1.0
    if before and after:
        keys = rng.random((permutations, before + after), np.float32)
        drawn = np.argpartition(keys, after - 1, axis=1)[:, :after]
        np.put_along_axis(labels[1:, 2:], drawn, 1.0, axis=1)
    else:
        labels[1:] = labels[0]
    return labels
