"""Table 4: thermostability (T50) and localization of proteins from vectors of 3-mers.

A sequence is k shifted lists of non-overlapping k-mers. Its vector is the mean of its k-mers'
vectors, or the mean of the vectors that doc2vec infers for its lists. A Gaussian process with a
Matérn 5/2 kernel predicts the target (`wordgeom/evaluation/gaussian_process.py`).
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from khalife_rows import GBU, RANDOM, available, train
from tables_report import Claim, Timed, conclude, judge, show, timed

import wordgeom as wg
from wordgeom.core.errors import InputError
from wordgeom.core.types import Float64, Int64
from wordgeom.evaluation.estimators import deterministic_estimators
from wordgeom.evaluation.gaussian_process import gaussian_process
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.regression import (
    Targets,
    mean_absolute_error,
    r_squared,
    read_targets,
)
from wordgeom.evaluation.resampling import BOOTSTRAP, interval
from wordgeom.evaluation.text_vectors import kmers

K, LENGTH, WINDOWS = 64, 3, (3, 7)  # dimension, k, w
DOC2VEC = "doc2vec"
_SEED, _RESAMPLES = 1, 2000
Measure = Callable[[Float64, Float64], float]
MEASURES: Sequence[Measure] = (r_squared, mean_absolute_error)
# (row, w): R² and MAE for each task
PUBLISHED: Mapping[tuple[str, int], Mapping[str, tuple[float, float]]] = {
    (DOC2VEC, 3): {"localization": (0.52, 0.756), "T50": (0.35, 3.02)},
    (DOC2VEC, 7): {"localization": (0.47, 0.787), "T50": (0.45, 2.94)},
    (GBU, 3): {"localization": (0.54, 0.728), "T50": (0.42, 3.00)},
    (GBU, 7): {"localization": (0.61, 0.667), "T50": (0.48, 2.69)},
}


@dataclass(frozen=True)
class Predicted:
    """The predictions (n) of a row for the test sequences of a task, and their targets (n)."""

    given: Float64
    gold: Float64

    def scores(self) -> tuple[float, float]:
        """Return R² and mean absolute error."""
        return r_squared(self.given, self.gold), mean_absolute_error(self.given, self.gold)


Found = Mapping[tuple[str, int, str], Predicted]  # row, w, task


def read_sequences(path: Path) -> list[str]:
    """Return the sequences of a FASTA file or of the column `sequence` of a CSV file."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        lines = [line.strip() for line in file]
    if not lines or not lines[0].startswith(">"):
        names = lines[0].lower().split(",") if lines else []
        if "sequence" not in names:
            raise InputError("no FASTA record and no column sequence", where=path)
        column = names.index("sequence")
        return [line.split(",")[column] for line in lines[1:] if line]
    records: list[list[str]] = []
    for line in lines:
        if line.startswith(">"):
            records.append([])
        else:
            records[-1].append(line)
    return ["".join(record) for record in records if record]


def lists(sequence: str) -> list[list[str]]:
    """Return the k shifted lists of non-overlapping k-mers of a sequence, without empty ones."""
    every = kmers(sequence, LENGTH)
    return [some for start in range(LENGTH) if (some := every[start::LENGTH])]


def means(sequences: Sequence[str], words: Sequence[str], matrix: Float64) -> Float64:
    """Return the mean vector (n × K) of the known k-mers of each sequence, 0 without any."""
    rows = {word: k for k, word in enumerate(words)}
    found = np.zeros((len(sequences), matrix.shape[1]))
    for n, sequence in enumerate(sequences):
        known = [rows[kmer] for kmer in kmers(sequence, LENGTH) if kmer in rows]
        if known:
            found[n] = matrix[known].mean(axis=0)
    return found


def doc2vec(sequences: Sequence[str], window: int, epochs: int) -> Any:
    """Return gensim's doc2vec of the lists of all sequences, trained on one thread."""
    from gensim.models.doc2vec import Doc2Vec, TaggedDocument

    documents = [
        TaggedDocument(words, [k])
        for k, words in enumerate(words for one in sequences for words in lists(one))
    ]
    return Doc2Vec(documents, vector_size=K, window=window, epochs=epochs, workers=1, seed=_SEED)


def inferred(model: Any, sequences: Sequence[str]) -> Float64:
    """Return the mean (n × K) of the vectors of a sequence's lists, 0 without a k-mer."""
    found = np.zeros((len(sequences), K))
    for n, sequence in enumerate(sequences):
        if some := lists(sequence):
            found[n] = np.mean([model.infer_vector(words) for words in some], axis=0)
    return found


def predict(task: Targets, vectors: Float64) -> Predicted:
    """Fit a Gaussian process to the training sequences of a task and predict the others."""
    fold, test = np.flatnonzero(task.train_only), np.flatnonzero(~task.train_only)
    with deterministic_estimators():
        given, _ = gaussian_process(vectors, task.values)(fold, test)
    return Predicted(given, task.values[test])


def run(proteins: Sequence[Path], tasks: Sequence[Path], epochs: int, threads: int) -> None:
    """Print Table 4 with its criteria. Raises InputError."""
    sequences = [sequence for path in proteins for sequence in read_sequences(path)]
    read = {path.stem: read_targets(path, EvalOptions(kmer=LENGTH)) for path in tasks}
    for name, task in read.items():
        if not task.train_only.any() or task.train_only.all():
            raise InputError("is_train must name both training and test sequences", where=name)
    found: dict[tuple[str, int, str], Predicted] = {}
    times: dict[tuple[str, int], Timed] = {}
    for window in WINDOWS:
        for row, vectors, took in _rows(sequences, list(read.values()), window, epochs, threads):
            if took is not None:
                times[row, window] = took
            for (name, task), each in zip(read.items(), vectors, strict=True):
                found[row, window, name] = predict(task, each)
    sizes = [f"{n}: {int(t.train_only.sum())} + {int((~t.train_only).sum())}"
             for n, t in read.items()]  # fmt: skip
    letters = sum(map(len, sequences))
    _print(found, times, (
        f"## Table 4: proteins\n\nTrained on {len(sequences):,} sequences of {letters:,} residues; "
        f"doc2vec with {epochs} epochs. Training and test sequences: {', '.join(sizes)}. Brackets: "
        "95 % bootstrap intervals over the test sequences."
    ))  # fmt: skip


def _rows(
    sequences: Sequence[str], tasks: Sequence[Targets], window: int, epochs: int, threads: int
) -> Iterator[tuple[str, list[Float64], Timed | None]]:
    counts = wg.count(texts=sequences, tokeniser="kmer", k=LENGTH, window=window,
                      window_weight="flat", threads=threads)  # fmt: skip
    random = np.random.default_rng(_SEED).standard_normal((len(counts.words), K))
    yield RANDOM, [means(task.texts, counts.words, random) for task in tasks], None
    for row in available():
        if window == WINDOWS[0]:
            train(counts, row, K, threads)  # imports and compiled code are not training time
        model, took = train(counts, row, K, threads)
        matrix = np.asarray(model.vectors, np.float64)
        yield row, [means(task.texts, counts.words, matrix) for task in tasks], took
    trained, took = timed(partial(doc2vec, sequences, window, epochs))
    yield DOC2VEC, [inferred(trained, task.texts) for task in tasks], took


def criteria(found: Found, times: Mapping[tuple[str, int], Timed]) -> list[Claim]:
    """Return the criteria of Table 4."""
    scores, quick = [], []
    for row, window, task in found:
        other = (DOC2VEC, window, task)
        if row != GBU or other not in found:
            continue
        ours, theirs = found[row, window, task].scores(), found[other].scores()
        scores.append((f"R² of {task}, w = {window}", ours[0] > theirs[0]))
        scores.append((f"MAE of {task}, w = {window}", ours[1] < theirs[1]))
    for window in WINDOWS:
        if (GBU, window) in times and (DOC2VEC, window) in times:
            less = 10 * times[GBU, window].cpu <= times[DOC2VEC, window].cpu
            quick.append((f"w = {window}", less))
    return [judge("Table 4, scores", scores), judge("Table 4, time", quick)]


def _print(found: Found, times: Mapping[tuple[str, int], Timed], title: str) -> None:
    tasks = list(dict.fromkeys(task for _, _, task in found))
    lines = []
    for row, window in dict.fromkeys((row, window) for row, window, _ in found):
        cells = [_cell(found[row, window, task], how) for task in tasks for how in MEASURES]
        took = times.get((row, window))
        lines.append([row, f"{window}", *cells, f"{took.cpu:.2g}" if took else ""])
    for other, window in ((other, w) for other in (DOC2VEC, RANDOM) for w in WINDOWS):
        pairs = [(found[GBU, window, task], found[other, window, task]) for task in tasks]
        cells = [_difference(*pair, how) for pair in pairs for how in MEASURES]
        lines.append([f"({GBU}) − ({other}), paired", f"{window}", *cells, ""])
    for (row, window), printed in PUBLISHED.items():
        cells = [f"{x:g}" for task in tasks for x in printed.get(task, (np.nan, np.nan))]
        lines.append([f"paper: {row}", f"{window}", *cells, ""])
    names = [f"{task}, {name}" for task in tasks for name in ("R²", "MAE")]
    show(title, ["row", "w", *names, "training, CPU s"], lines)
    conclude(criteria(found, times))


def _cell(one: Predicted, measure: Measure) -> str:
    return _between(lambda rows: measure(one.given[rows], one.gold[rows]), len(one.gold), "")


def _difference(first: Predicted, second: Predicted, measure: Measure) -> str:
    def statistic(rows: Int64) -> float:
        gold = first.gold[rows]
        return measure(first.given[rows], gold) - measure(second.given[rows], gold)

    return _between(statistic, len(first.gold), "+")


def _between(statistic: Callable[[Int64], float], n: int, sign: str) -> str:
    low, high = interval(statistic, n, BOOTSTRAP, _RESAMPLES, _SEED)
    return f"{statistic(np.arange(n)):{sign}.2f} [{low:{sign}.2f}, {high:{sign}.2f}]"
