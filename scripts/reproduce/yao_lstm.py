"""A language model of §5.2 in small: an LSTM whose embedding begins with given vectors.

The paper's is TensorFlow's PTB model, "small": 2 layers as wide as the vectors, 5 epochs. This
one is the same but for its optimiser (Adam), its batches of whole passages and its early stop,
which keep it to a few minutes on a CPU. Embedding and output weights are not tied, as there.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core.errors import UnavailableError
from wordgeom.core.types import Float32, Float64, Int64

_NOTHING = -100  # a place behind a passage's end; Torch leaves such targets out by itself


@dataclass(frozen=True)
class Settings:
    """What the language model is and how it learns."""

    layers: int = 2
    units: int = 100
    epochs: int = 12
    batch: int = 16
    rate: float = 4e-3
    clip: float = 5.0
    patience: int = 1  # epochs without a better validation that end training


@dataclass(frozen=True, eq=False)
class Judged:
    """The loss (tokens) of each test token, −ln p, what it was and what stood before it.

    epochs: how many gave the best validation; valid: perplexity there.
    """

    losses: Float64
    targets: Int64
    before: Int64
    epochs: int
    valid: float


def padded(passages: Sequence[Int64], first: int) -> tuple[Int64, Int64]:
    """Return inputs and targets (passages × longest): a passage moved by one behind `first`."""
    longest = max(map(len, passages))
    inputs = np.zeros((len(passages), longest), np.int64)
    targets = np.full((len(passages), longest), _NOTHING)
    for row, passage in enumerate(passages):
        inputs[row, : len(passage)] = [first, *passage[:-1]]
        targets[row, : len(passage)] = passage
    return inputs, targets


def perplexity(losses: Float64) -> float:
    """Return e to the mean loss, nan of no token."""
    return float(np.exp(np.mean(losses))) if len(losses) else float("nan")


def needs_torch() -> Any:
    """Return Torch, or raise UnavailableError."""
    try:
        import torch
    except ImportError:
        raise UnavailableError("Table 2 needs Torch", do="pip install torch") from None
    return torch


def model(start: Float32, settings: Settings) -> Any:
    """Return the network: `start` (V × K) its embedding, which training changes."""
    nn = needs_torch().nn
    words, dim = start.shape
    embedding = nn.Embedding.from_pretrained(needs_torch().tensor(start), freeze=False)
    lstm = nn.LSTM(dim, settings.units, settings.layers, batch_first=True)
    return nn.ModuleDict(
        {"embedding": embedding, "lstm": lstm, "out": nn.Linear(settings.units, words)}
    )


def losses(network: Any, inputs: Any, targets: Any) -> Any:
    """Return the loss of every place (passages · longest), 0 behind the ends."""
    states, _ = network["lstm"](network["embedding"](inputs))
    scores = network["out"](states).flatten(0, 1)
    function = needs_torch().nn.functional.cross_entropy
    return function(scores, targets.flatten(), ignore_index=_NOTHING, reduction="none")


def fit(
    start: Float32,
    train: Sequence[Int64],
    valid: Sequence[Int64],
    test: Sequence[Int64],
    first: int,
    seed: int,
    settings: Settings,
) -> Judged:
    """Train from `start` (V × K), stop where validation is best, and judge the test passages.

    The seed decides the network's other weights and the order of passages, so that runs of one
    seed differ by `start` alone. Raises UnavailableError without Torch.
    """
    torch = needs_torch()
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    network = model(start, settings)
    optimiser = torch.optim.Adam(network.parameters(), settings.rate)
    best, kept, waited, reached = np.inf, copy.deepcopy(network.state_dict()), 0, 0
    for epoch in range(1, settings.epochs + 1):
        _epoch(network, optimiser, [train[k] for k in rng.permutation(len(train))], first, settings)
        found = perplexity(_judge(network, valid, first, settings)[0])
        waited = 0 if found < best else waited + 1
        if found < best:
            best, kept, reached = found, copy.deepcopy(network.state_dict()), epoch
        elif waited > settings.patience - 1:
            break
    network.load_state_dict(kept)
    return Judged(*_judge(network, test, first, settings), reached, best)


def _epoch(
    network: Any, optimiser: Any, passages: Sequence[Int64], first: int, settings: Settings
) -> None:
    torch = needs_torch()
    for low in range(0, len(passages), settings.batch):
        inputs, targets = padded(passages[low : low + settings.batch], first)
        optimiser.zero_grad()
        each = losses(network, torch.tensor(inputs), torch.tensor(targets))
        (each.sum() / int(np.sum(targets != _NOTHING))).backward()
        torch.nn.utils.clip_grad_norm_(network.parameters(), settings.clip)
        optimiser.step()


def _judge(
    network: Any, passages: Sequence[Int64], first: int, settings: Settings
) -> tuple[Float64, Int64, Int64]:
    """Return losses, targets and the words before them, of all tokens in order."""
    torch = needs_torch()
    found: list[tuple[Float64, Int64, Int64]] = []
    with torch.no_grad():
        for low in range(0, len(passages), settings.batch):
            inputs, targets = padded(passages[low : low + settings.batch], first)
            each = losses(network, torch.tensor(inputs), torch.tensor(targets))
            there = targets != _NOTHING
            values = each.numpy().reshape(targets.shape)[there].astype(np.float64)
            found.append((values, targets[there], inputs[there]))
    parts = [np.concatenate(part) for part in zip(*found, strict=True)]
    return parts[0], parts[1], parts[2]
