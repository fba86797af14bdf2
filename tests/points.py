"""Points to search, and their distances by brute force."""

from __future__ import annotations

import numpy as np


def brute(points):
    """Return all squared distances (n × n), inf on the diagonal."""
    apart = points[:, None] - points[None]
    squared = (apart * apart).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    return squared


def surface(n, seed=0, d=20):
    """Return points near a surface of few dimensions, where an index works."""
    rng = np.random.default_rng(seed)
    return np.tanh(rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)))
