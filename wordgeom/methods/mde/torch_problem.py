"""The average distortion and its gradient in Torch; imported only when requested.

The gradient is a product with a sparse matrix in CSR, whose sums have one order, unlike additions
by index on a GPU.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import torch

from wordgeom.methods.mde.edges import around
from wordgeom.methods.mde.problem import Term

_GATHERED = 1 << 26  # numbers of differences that are formed at once: 256 MB in float32


class TorchProblem:
    """What `Problem` is, for vectors on a Torch device."""

    def __init__(self, items: int, terms: Sequence[Term], device: str) -> None:
        self.items, self.terms = items, tuple(terms)
        self.size = sum(len(term.pairs) for term in self.terms)
        rows, numbers = around([term.pairs for term in self.terms], items)
        parts = (rows.indptr, rows.others.astype(np.int64), numbers.astype(np.int64))
        self._indptr, self._others, self._numbers = (
            torch.from_numpy(part).to(device) for part in parts
        )
        self._pairs = [
            tuple(torch.from_numpy(np.ascontiguousarray(part)).to(device)
                  for part in (term.pairs.left, term.pairs.right, term.pairs.given))
            for term in self.terms
        ]  # fmt: skip

    def distances(self, vectors: torch.Tensor) -> list[torch.Tensor]:
        """Return the distance of each pair, by term."""
        found = []
        for left, right, _ in self._pairs:
            out = torch.empty(len(left), dtype=vectors.dtype, device=vectors.device)
            step = max(1, _GATHERED // vectors.shape[1])
            for start in range(0, len(left), step):
                block = slice(start, start + step)
                apart = vectors[left[block].long()] - vectors[right[block].long()]
                out[block] = apart.square().sum(dim=1).sqrt()
            found.append(out)
        return found

    def distortions(self, vectors: torch.Tensor) -> list[torch.Tensor]:
        """Return the distortion of each pair, by term."""
        return [values for values, _ in self._evaluated(vectors)]

    def __call__(self, vectors: torch.Tensor) -> tuple[float, torch.Tensor]:
        """Return E and its gradient (n × m)."""
        evaluated = self._evaluated(vectors)
        total = sum(float(values.sum(dtype=torch.float64)) for values, _ in evaluated)
        slopes = torch.cat([slope for _, slope in evaluated]) / self.size
        weights = slopes[self._numbers]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
            graph = torch.sparse_csr_tensor(
                self._indptr, self._others, weights, (self.items, self.items),
                check_invariants=False,
            )  # fmt: skip
            degrees = graph @ torch.ones_like(vectors[:, :1])
            gradient = degrees * vectors - graph @ vectors
        return total / self.size, gradient

    def _evaluated(self, vectors: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Return f and f′(d)/d of each pair, by term."""
        return [
            term.distortion.at(distances, given.to(distances.dtype), torch)
            for distances, (_, _, given), term in zip(
                self.distances(vectors), self._pairs, self.terms, strict=True
            )
        ]
