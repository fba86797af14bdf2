"""What a test that knows the answer finds: the limit of power on planted words.

    scripts/reproduce/planted_oracle SPEECHES [--seed 1] [--words 16] [--within N] [--processes 2]

For each pseudo-word whose meaning changes (design `shuffled`), a logistic regression is trained on
all uses of its two words, labelled with the true one. The features are the neighbours at −2 to 2,
and the words within 5, 20 and 75 tokens, weighted by inverse document frequency; with --within N,
only from the words within N tokens, wherever they stand. Its predictions are for speeches that it
has not seen (five folds; the penalty is chosen within the others). The mean prediction in each
speech is regressed on time. Four tests:

classifier, degree 2   F of a polynomial of degree 2, as in `drift`
classifier, shape      F of the true share of the donor over time
labels, degree 2       the same F with the true word of each use instead of predictions
labels, shape          both known

A word is found if q ≤ .05, with uniform p for all words of the vocabulary that are not planted.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from planted_text import Speeches, read_speeches, shuffled
from planted_words import PLANTED, RANGE, Pseudo, draw, plant
from scipy import sparse, stats

from wordgeom.core.types import Array, Float64, Int64

TESTS = ("classifier, degree 2", "classifier, shape", "labels, degree 2", "labels, shape")
_LEVEL, _HALF = 0.05, 0.5
_MIN_COUNT = 100  # of the vocabulary, as in planted_change
_FOLDS, _INNER = 5, 3
_PENALTIES = (0.003, 0.01, 0.03, 0.1, 0.3)  # C of scikit-learn
_FEWEST = 20  # speeches that contain a context word
Windows = Sequence[
    tuple[Sequence[int], float]
]  # tokens around a use, and the weight of their words


def _around(n: int) -> list[int]:
    return [*range(-n, 0), *range(1, n + 1)]


_WINDOWS: Windows = (
    *(([place], 0.5) for place in _around(2)),
    *((_around(n), weight) for n, weight in ((5, 0.35), (20, 0.2), (75, 0.1))),
)


@dataclass(frozen=True)
class Found:
    """A pseudo-word, the speeches that contain it, the classifier's AUC, and p of each test."""

    word: Pseudo
    speeches: int
    auc: float
    p: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Planted:
    """Speeches before and after planting, and the pseudo-words."""

    before: Speeches
    after: Speeches
    pseudo: list[Pseudo]
    idf: Float64


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, metavar="SPEECHES")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--words", type=int, default=16)
    parser.add_argument("--within", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    warnings.filterwarnings("ignore", category=FutureWarning, module="sklearn")
    start = time.perf_counter()
    given = args.file, args.seed, args.words
    texts = planted(*given)
    windows = ((_around(args.within), 1.0),) if args.within else _WINDOWS
    changing = [k for k, word in enumerate(texts.pseudo) if word.kind in PLANTED]
    with ProcessPoolExecutor(args.processes, mp_context=get_context("fork")) as processes:
        found = list(processes.map(partial(of_word, given, windows), changing))
    counts = np.bincount(texts.after.tokens, minlength=len(texts.after.words))
    print("\n".join(table(found, int((counts >= _MIN_COUNT).sum()))))
    print(f"\n{time.perf_counter() - start:.0f} s")


@cache
def planted(file: Path, seed: int, words: int) -> Planted:
    """Return the text of a seed of the design `shuffled` of planted_change."""
    rng = np.random.default_rng([seed, 0])
    before = shuffled(read_speeches(file), rng)
    pseudo = draw(before, words, rng)
    frequencies = before.document_frequencies()
    idf = np.log(len(before.years) / np.maximum(frequencies, 1))
    idf[frequencies < _FEWEST] = 0.0
    return Planted(before, plant(before, pseudo, rng), pseudo, idf)


def of_word(given: tuple[Path, int, int], windows: Windows, k: int) -> Found:
    """Return what is found of the k-th pseudo-word."""
    texts = planted(*given)
    word, text = texts.pseudo[k], texts.before
    at = np.flatnonzero((text.tokens == word.recipient) | (text.tokens == word.donor))
    donor, speech = text.tokens[at] == word.donor, text.of[at]
    X = contexts(texts, at, word, windows)
    predicted = predictions(X, donor, speech)
    used = texts.after.tokens[at] == len(text.words) + k
    rows, code = np.unique(speech[used], return_inverse=True)
    times, uses = text.times[rows], np.bincount(code)
    shapes = np.stack([times, times**2], axis=1), word.share(times)[:, None]
    p = []
    for values in (predicted, donor.astype(np.float64)):
        mean = np.bincount(code, values[used]) / uses
        p += [f_test(mean, shape, uses) for shape in shapes]
    ranks = stats.rankdata(predicted)[donor].sum() - donor.sum() * (donor.sum() + 1) / 2
    return Found(word, len(rows), ranks / (donor.sum() * (~donor).sum()), tuple(p))


def contexts(texts: Planted, at: Int64, word: Pseudo, windows: Windows) -> sparse.csr_matrix:
    """Return weights of the words around each of some places, without the two words themselves."""
    text, blocks = texts.before, []
    first, last = text.starts[text.of[at]], text.starts[text.of[at] + 1]
    for window, weight in windows:
        rows, columns = [], []
        for offset in window:
            inside = np.flatnonzero((at + offset >= first) & (at + offset < last))
            rows.append(inside)
            columns.append(text.tokens[at[inside] + offset])
        row, column = np.concatenate(rows), np.concatenate(columns)
        known = (texts.idf[column] > 0.0) & ~np.isin(column, (word.recipient, word.donor))
        shape = len(at), len(text.words)
        block = sparse.csr_matrix((np.ones(known.sum()), (row[known], column[known])), shape)
        block.data[:] = 1.0
        blocks.append(block.multiply(weight * texts.idf).tocsr())
    X = sparse.hstack(blocks).tocsr()
    return X[:, np.bincount(X.indices, minlength=X.shape[1]) > 1]


def predictions(X: sparse.csr_matrix, donor: Array, speech: Int64) -> Float64:
    """Return the probability of the donor for each use, fitted to other speeches."""
    from sklearn.linear_model import LogisticRegressionCV
    from sklearn.model_selection import GroupKFold

    predicted = np.empty(len(donor))
    for others, held in GroupKFold(_FOLDS).split(X, donor, speech):
        known, labels, groups = X[others], donor[others], speech[others]
        folds = list(GroupKFold(_INNER).split(known, labels, groups))
        model = LogisticRegressionCV(
            Cs=_PENALTIES, cv=folds, scoring="roc_auc", solver="liblinear", max_iter=200
        )
        predicted[held] = model.fit(known, labels).predict_proba(X[held])[:, 1]
    return predicted


def f_test(mean: Float64, shape: Float64, uses: Int64) -> float:
    """Return p of a weighted regression of means of speeches (n) on shapes (n × k) of time."""
    root = np.sqrt(uses)
    design, y = np.insert(shape, 0, 1.0, axis=1) * root[:, None], mean * root
    n, k = shape.shape
    without, full = (_squares(design[:, :columns], y) for columns in (1, k + 1))
    return float(stats.f.sf((without - full) / k / (full / (n - k - 1)), k, n - k - 1))


def _squares(design: Float64, y: Float64) -> float:
    return float(np.sum((y - design @ np.linalg.lstsq(design, y, rcond=None)[0]) ** 2))


def table(found: list[Found], vocabulary: int) -> Iterator[str]:
    """Yield the share of words found by kind, among those of share one half in enough speeches."""
    half = [one for one in found if one.word.size == _HALF and one.speeches >= RANGE[0]]
    auc = np.median([one.auc for one in half])
    yield f"{len(half)} words; median area under the ROC curve {auc:.3f}"
    yield "| test | p at most | all | " + " | ".join(PLANTED) + " |"
    yield "|---" * (3 + len(PLANTED)) + "|"
    for k, test in enumerate(TESTS):
        # A share `_LEVEL` of what is found is noise that these words do not contain.
        p = np.sort([one.p[k] for one in found]) * vocabulary * (1.0 - _LEVEL)
        passed = np.flatnonzero(p <= _LEVEL * np.arange(1, len(p) + 1))
        bound = (passed[-1] + 1 if len(passed) else 1) * _LEVEL / (1.0 - _LEVEL) / vocabulary
        shares = [
            np.mean([one.p[k] <= bound for one in half if one.word.kind in kinds])
            for kinds in (PLANTED, *((kind,) for kind in PLANTED))
        ]
        yield f"| {test} | {bound:.1e} | " + " | ".join(f"{share:.3f}" for share in shares) + " |"


if __name__ == "__main__":
    main()
