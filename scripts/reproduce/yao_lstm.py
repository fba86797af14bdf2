"""The language model of §5.2: an LSTM whose embedding is initialised with given vectors.

The paper uses TensorFlow's PTB model, "small": 2 layers as wide as the vectors, 5 epochs. This
model differs in its optimiser (Adam), batches of whole passages and early stopping, which limit it
to a few minutes on a CPU. Embedding and output weights are not tied, as in the paper.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core.errors import UnavailableError
from wordgeom.core.types import Float32, Float64, Int64

_PADDING = -100  # target after the end of a passage, which Torch ignores


@dataclass(frozen=True)
class Settings:
    """The size of the language model and its training."""

    layers: int = 2
    units: int = 100
    epochs: int = 12
    batch: int = 16
    rate: float = 4e-3
    clip: float = 5.0
    patience: int = 1  # epochs without improvement on the validation set before stopping


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The loss −ln p of each test token, with the token (`targets`) and its predecessor (`before`).

    epochs: number with the best validation perplexity, `valid`.
    """

    losses: Float64
    targets: Int64
    before: Int64
    epochs: int
    valid: float


def padded(passages: Sequence[Int64], first: int) -> tuple[Int64, Int64]:
    """Return inputs and targets (passages × longest); inputs start with `first`."""
    longest = max(map(len, passages))
    inputs = np.zeros((len(passages), longest), np.int64)
    targets = np.full((len(passages), longest), _PADDING)
    for row, passage in enumerate(passages):
        inputs[row, : len(passage)] = [first, *passage[:-1]]
        targets[row, : len(passage)] = passage
    return inputs, targets


def perplexity(losses: Float64) -> float:
    """Return exp of the mean loss, nan without tokens."""
    return float(np.exp(np.mean(losses))) if len(losses) else float("nan")


def require_torch() -> Any:
    """Return Torch, or raise UnavailableError."""
    try:
        import torch
    except ImportError:
        raise UnavailableError("Table 2 needs Torch", do="pip install torch") from None
    return torch


def model(start: Float32, settings: Settings) -> Any:
    """Return the network, with `start` (V × K) as its trainable embedding."""
    nn = require_torch().nn
    words, dim = start.shape
    embedding = nn.Embedding.from_pretrained(require_torch().tensor(start), freeze=False)
    lstm = nn.LSTM(dim, settings.units, settings.layers, batch_first=True)
    return nn.ModuleDict(
        {"embedding": embedding, "lstm": lstm, "out": nn.Linear(settings.units, words)}
    )


def losses(network: Any, inputs: Any, targets: Any) -> Any:
    """Return the loss at every position (passages · longest), 0 for padding."""
    states, _ = network["lstm"](network["embedding"](inputs))
    scores = network["out"](states).flatten(0, 1)
    function = require_torch().nn.functional.cross_entropy
    return function(scores, targets.flatten(), ignore_index=_PADDING, reduction="none")


def fit(
    start: Float32,
    train: Sequence[Int64],
    valid: Sequence[Int64],
    test: Sequence[Int64],
    first: int,
    seed: int,
    settings: Settings,
) -> Evaluated:
    """Train from `start` (V × K) with early stopping, and evaluate on the test passages.

    The seed determines the other weights and the order of passages, so that runs with the same seed
    differ only in `start`. Raises UnavailableError without Torch.
    """
    torch = require_torch()
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    network = model(start, settings)
    optimiser = torch.optim.Adam(network.parameters(), settings.rate)
    best, best_state, waited, reached = np.inf, copy.deepcopy(network.state_dict()), 0, 0
    for epoch in range(1, settings.epochs + 1):
        _epoch(network, optimiser, [train[k] for k in rng.permutation(len(train))], first, settings)
        found = perplexity(_evaluate(network, valid, first, settings)[0])
        waited = 0 if found < best else waited + 1
        if found < best:
            best, best_state, reached = found, copy.deepcopy(network.state_dict()), epoch
        elif waited > settings.patience - 1:
            break
    network.load_state_dict(best_state)
    return Evaluated(*_evaluate(network, test, first, settings), reached, best)


def _epoch(
    network: Any, optimiser: Any, passages: Sequence[Int64], first: int, settings: Settings
) -> None:
    torch = require_torch()
    for low in range(0, len(passages), settings.batch):
        inputs, targets = padded(passages[low : low + settings.batch], first)
        optimiser.zero_grad()
        each = losses(network, torch.tensor(inputs), torch.tensor(targets))
        (each.sum() / int(np.sum(targets != _PADDING))).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), settings.clip)
        optimiser.step()


def _evaluate(
    network: Any, passages: Sequence[Int64], first: int, settings: Settings
) -> tuple[Float64, Int64, Int64]:
    """Return losses, targets and their predecessors, for all tokens in order."""
    torch = require_torch()
    found: list[tuple[Float64, Int64, Int64]] = []
    with torch.no_grad():
        for low in range(0, len(passages), settings.batch):
            inputs, targets = padded(passages[low : low + settings.batch], first)
            each = losses(network, torch.tensor(inputs), torch.tensor(targets))
            real = targets != _PADDING
            values = each.numpy().reshape(targets.shape)[real].astype(np.float64)
            found.append((values, targets[real], inputs[real]))
    parts = [np.concatenate(part) for part in zip(*found, strict=True)]
    return parts[0], parts[1], parts[2]
