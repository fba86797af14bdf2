"""The convolutional network of Table 6 (Kim 2014): one layer over frozen word vectors.

Widths 3, 4 and 5 with 100 filters each, maximum over time, dropout .5. The paper states none of
these; they are Kim's. Adam replaces his Adadelta.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from khalife_noise import require_torch

from wordgeom.core.types import Float32, Int64
from wordgeom.vectors.keyed import Vectors


@dataclass(frozen=True)
class Settings:
    """The network, its training, and how many words of a text it reads."""

    widths: tuple[int, ...] = (3, 4, 5)
    filters: int = 100
    dropout: float = 0.5
    rate: float = 1e-3
    batch: int = 50
    epochs: int = 5
    length: int = 100


def embedding(vectors: Vectors) -> Float32:
    """Return vectors with standard deviation 1, and a zero row for unknown words (V + 1, K)."""
    matrix = vectors.matrix / max(float(vectors.matrix.std()), 1e-12)
    return np.vstack([matrix, np.zeros((1, matrix.shape[1]))]).astype(np.float32)


def rows_of(texts: Sequence[Sequence[str]], vectors: Vectors, length: int) -> list[Int64]:
    """Return the rows of the first `length` words of each text, the last row for unknown words."""
    unknown = len(vectors.words)
    index = vectors.index
    return [np.array([index.get(w, unknown) for w in text[:length]], np.int64) for text in texts]


def padded(texts: Sequence[Int64], padding: int, least: int) -> Int64:
    """Return texts as rows (texts × longest, at least `least`), filled with `padding`."""
    table = np.full((len(texts), max(least, *map(len, texts))), padding)
    for row, text in enumerate(texts):
        table[row, : len(text)] = text
    return table


def predict(
    matrix: Float32,
    train: Sequence[Int64],
    labels: Int64,
    test: Sequence[Int64],
    seed: int,
    settings: Settings,
) -> Int64:
    """Train on texts (rows of `matrix`) with labels, and return the labels (n) of test texts."""
    torch = require_torch()
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    network = _Network(matrix, int(labels.max()) + 1, settings)
    optimiser = torch.optim.Adam(network.parameters(), settings.rate)
    for _ in range(settings.epochs):
        for batch in _batches(train, rng.permutation(len(train)), settings.batch):
            optimiser.zero_grad()
            scores = network([train[k] for k in batch], training=True)
            torch.nn.functional.cross_entropy(scores, torch.tensor(labels[batch])).backward()
            optimiser.step()
    found = np.zeros(len(test), np.int64)
    with torch.no_grad():
        for batch in _batches(test, np.arange(len(test)), settings.batch):
            found[batch] = network([test[k] for k in batch], training=False).argmax(1).numpy()
    return found


class _Network:
    """Scores (texts × classes) of texts."""

    def __init__(self, matrix: Float32, classes: int, settings: Settings) -> None:
        torch = require_torch()
        self._torch, self._settings = torch, settings
        self._matrix, self._padding = torch.tensor(matrix), len(matrix) - 1
        self._layers = [
            torch.nn.Conv1d(matrix.shape[1], settings.filters, width) for width in settings.widths
        ]
        self._out = torch.nn.Linear(settings.filters * len(settings.widths), classes)

    def parameters(self) -> list[Any]:
        """Return what training changes; the word vectors are frozen."""
        return [p for layer in (*self._layers, self._out) for p in layer.parameters()]

    def __call__(self, texts: Sequence[Int64], training: bool) -> Any:
        functions = self._torch.nn.functional
        ids = padded(texts, self._padding, max(self._settings.widths))
        inputs = functions.embedding(self._torch.tensor(ids), self._matrix).transpose(1, 2)
        parts = [layer(inputs).relu().amax(dim=2) for layer in self._layers]
        features = self._torch.cat(parts, dim=1)
        return self._out(functions.dropout(features, self._settings.dropout, training))


def _batches(texts: Sequence[Int64], order: Int64, size: int) -> Iterator[Int64]:
    """Yield batches of texts of similar length, which need little padding, in the given order."""
    pool = 20 * size
    for low in range(0, len(order), pool):
        some = order[low : low + pool]
        some = some[np.argsort([len(texts[k]) for k in some], kind="stable")]
        yield from (some[start : start + size] for start in range(0, len(some), size))
