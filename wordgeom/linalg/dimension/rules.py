"""Three rules that choose K from the largest values of a matrix.

* parallel analysis (Horn 1965; Dobriban and Owen 2019): the leading values that exceed those of the
  same matrix with each column permuted
* eigengap: the K with the largest λ_K − λ_{K+1}
* PIP loss (Yin and Shen 2018): the K with the smallest expected ‖EEᵀ − ÊÊᵀ‖, for the vectors E of
  the matrix without noise and Ê of the matrix as it is, E = U Λ^p

The expectation is that of a low-rank matrix plus independent noise of one variance, in the limit of
large matrices: a value λ̃ above the noise belongs to a signal θ < λ̃, and the squared cosine c² of
their vectors is known (Benaych-Georges and Nadakuditi 2011, 2012). Column k is worth λ̃^4p −
2 θ^2p λ̃^2p c² in the squared loss. For symmetric matrices and p = ½, this is the threshold 4/√3 of
Gavish and Donoho (2014).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Float64

PARALLEL, EIGENGAP, PIP = "parallel", "eigengap", "pip"
RULES = (PARALLEL, EIGENGAP, PIP)


@dataclass(frozen=True)
class Spectrum:
    """The largest values of a matrix, and what the noise is estimated from.

    values (k): eigenvalues of a symmetric matrix or singular values, descending; square: ‖X‖²;
    shape: of the matrix; symmetric: whether they are eigenvalues; null (k): values of the permuted
    matrix.
    """

    values: Float64
    square: float
    shape: tuple[int, int]
    symmetric: bool
    null: Float64


def parallel_analysis(spectrum: Spectrum) -> int:
    """Return the number of leading values that exceed those of the permuted matrix.

    The first one always counts: it belongs to the mean, which permutations of columns leave alone.
    """
    above = spectrum.values > spectrum.null
    above[0] = True
    return int(len(above) if above.all() else above.argmin())


def eigengap(spectrum: Spectrum) -> int:
    """Return the K with the largest difference to the next value, among positive ones."""
    values = np.maximum(spectrum.values, 0.0)
    gaps = -np.diff(values)
    return int(gaps.argmax()) + 1 if len(gaps) else 1


def pip_loss(spectrum: Spectrum, power: float) -> int:
    """Return the K of least expected PIP loss of U Λ^power, 0 where no value exceeds the noise."""
    return int(pip_losses(spectrum, power).argmin())


def pip_losses(spectrum: Spectrum, power: float) -> Float64:
    """Return the expected squared PIP loss (k + 1) of K = 0, 1, … columns."""
    signal, cosine = signals(spectrum)
    found = signal > 0.0
    kept = np.where(found, signal, 1.0) ** (2.0 * power) * found
    seen = np.maximum(spectrum.values, 0.0) ** (2.0 * power)
    worth = seen**2 - 2.0 * kept * seen * cosine
    return np.asarray(np.sum(kept**2) + np.concatenate(([0.0], np.cumsum(worth))))


def signals(spectrum: Spectrum) -> tuple[Float64, Float64]:
    """Return the signal θ behind each value and the squared cosine of their vectors, (k) each.

    Both are 0 for values within the noise.
    """
    deviation = noise_deviation(spectrum)
    values = spectrum.values
    if deviation == 0.0:
        return np.maximum(values, 0.0), (values > 0.0).astype(np.float64)
    small, large = sorted(spectrum.shape)
    scale = deviation * np.sqrt(large)
    y = np.maximum(values / scale, 0.0)
    if spectrum.symmetric:
        x = np.where(y > 2.0, (y + np.sqrt(np.maximum(y**2 - 4.0, 0.0))) / 2.0, 0.0)
        cosine = 1.0 - 1.0 / np.where(x > 0.0, x, 1.0) ** 2
        return x * scale, cosine
    ratio = small / large
    rest = y**2 - ratio - 1.0
    above = y > 1.0 + np.sqrt(ratio)
    root = np.sqrt(np.maximum(rest**2 - 4.0 * ratio, 0.0))
    x = np.where(above, np.sqrt(np.maximum(rest + root, 0.0) / 2.0), 0.0)
    x2 = np.where(above, x, 1.0) ** 2
    # Words are the columns; vectors of the shorter side are closer to their signals.
    lost = ratio * x2 if spectrum.shape[1] == small else x2
    cosine = np.where(above, (x2**2 - ratio) / (x2**2 + lost), 0.0)
    return x * scale, cosine


def noise_deviation(spectrum: Spectrum) -> float:
    """Return the standard deviation of an entry's noise: what values above the noise leave.

    The number of these values depends on the deviation, from which it is counted again.
    """
    n, m = spectrum.shape
    edge = np.sqrt(n) + np.sqrt(m)
    values, count = spectrum.values, 0
    while True:
        rest = max(spectrum.square - float(np.sum(values[:count] ** 2)), 0.0)
        if rest <= 1e-10 * spectrum.square:  # rounding: no noise
            return 0.0
        deviation = float(np.sqrt(rest / ((n - count) * (m - count))))
        above = int(np.count_nonzero(values > deviation * edge))
        if above <= count or above >= min(n, m):
            return deviation
        count = above
