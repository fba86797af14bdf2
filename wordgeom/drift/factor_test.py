"""T of carrington §5.5.1, eq. 5.14: whether r static factors explain how words vary together.

Under X = A B₀ + Z, with independent rows and noise of a variance for each word, T = n (tr MΣ̂⁻¹ −
log |MΣ̂⁻¹| − p) tends to χ² with ν = ½((p − r)² − p − r) degrees of freedom; M is the words'
covariance and Σ̂ the best of r factors. Times do not occur in it: what moves with time looks like
more factors (Proposition 5), so that T rejects a change and too small an r alike, and with too
large an r neither.

The factor n makes it reject too often until n is many times p. With Bartlett's,
n − 1 − (2p + 5)/6 − 2r/3, which is that of R's factanal, χ² is reached at about n = 4p.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import plural, several
from wordgeom.core.types import Array, Csr, Float64
from wordgeom.drift.factor_analysis import LEAST, fit
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.memory import check_memory

ASSUMES = "the dimension is right: one that is too small is rejected as a change is"
MOST = 2000  # words: each step of the fit takes time that grows with their cube
ENOUGH = 4  # documents to a word
_CONSTANT = 1e-12  # of a column's mean square: variance that is rounding
_SINGULAR = 1e-10  # an eigenvalue of correlations that is rounding
_WHAT = "the factor test"


@dataclass(frozen=True, eq=False)
class FactorTest:
    """What T says of p words.

    statistic and its p: Bartlett-corrected; plain and plain_p: eq. 5.14 as it stands; degrees: ν;
    uniquenesses (p), NaN for a word that is constant; eigenvalues of MΣ̂⁻¹ (of the other words),
    ascending; notes: what a user must be told.
    """

    statistic: float
    plain: float
    degrees: int
    p: float
    plain_p: float
    uniquenesses: Float64
    eigenvalues: Float64
    converged: bool
    notes: tuple[str, ...]


def factor_test(X: Float64, r: int) -> FactorTest:
    """Test r factors on documents × words (n × p); takes as much memory again as X.

    Raises InputError for numbers that are not finite, p ≥ n and words that are sums of others,
    OptionError where r leaves no degree of freedom. The scale of a word does not matter.
    """
    from scipy.special import chdtrc

    R, kept = _correlations(X)
    n, p = len(X), len(R)
    degrees = _checked_degrees(n, p, r)
    if np.linalg.eigvalsh(R)[0] < _SINGULAR:
        do = "leave out repeated words, or one word where rows add up to 1"
        raise InputError(f"{_WHAT} cannot take a word that is a sum of others", do=do)
    found = fit(R, r)
    plain = n * found.discrepancy
    statistic = (n - 1 - (2 * p + 5) / 6 - 2 * r / 3) * found.discrepancy
    uniquenesses = np.full(len(kept), np.nan)
    uniquenesses[kept] = found.uniquenesses
    return FactorTest(
        statistic, plain, degrees, float(chdtrc(degrees, statistic)),
        float(chdtrc(degrees, plain)), uniquenesses, found.eigenvalues, found.converged,
        _notes(n, uniquenesses, found.converged),
    )  # fmt: skip


def factor_matrix(X: Csr, memory: int | None = None) -> Float64:
    """Return a sparse matrix (n × p) as `factor_test` takes it.

    memory: bytes that both may use. Raises InputError for more than MOST words, or too large an X.
    """
    if X.columns > MOST:
        raise InputError(
            f"{_WHAT} is for at most {MOST:,} words", found=f"{X.columns:,}",
            do="name the words to test",
        )  # fmt: skip
    if memory is not None:
        what = f"the {X.rows:,} × {X.columns:,} numbers of {_WHAT}"
        check_memory(what, 16 * X.rows * X.columns, memory, "name the words to test")
    dense = np.zeros((X.rows, X.columns))
    dense[np.repeat(np.arange(X.rows), np.diff(X.indptr)), X.indices] = X.data
    return dense


def degrees_of_freedom(p: int, r: int) -> int:
    """Return ν, by which p words' covariances exceed r factors' parameters; 0 or less: no test."""
    return ((p - r) ** 2 - p - r) // 2


def _correlations(X: Float64) -> tuple[Float64, Array]:
    """Return the correlations of words that are not constant, and (p) bool which they are."""
    if not np.isfinite(X).all():
        raise InputError(f"{_WHAT} needs finite numbers", do="check the weights")
    centred = X - X.mean(axis=0)
    squares = np.einsum("ij,ij->j", centred, centred)
    kept = squares > _CONSTANT * np.einsum("ij,ij->j", X, X)
    if not kept.all():
        centred = centred[:, kept]
    centred /= np.sqrt(squares[kept])
    with one_thread():
        return centred.T @ centred, kept


def _checked_degrees(n: int, p: int, r: int) -> int:
    """Return ν. Raises InputError for p ≥ n, OptionError where it is not positive."""
    if p >= n:
        found = f"{n:,} of {plural(p, 'word')} that vary"
        raise InputError(f"{_WHAT} needs more documents than words", found=found,
                         do="name fewer words to test")  # fmt: skip
    degrees = degrees_of_freedom(p, r)
    if not 1 <= r < p or degrees <= 0:
        most = sum(degrees_of_freedom(p, k) > 0 for k in range(1, p))
        do = f"pass --rank 1 to {most:,}, or name more words" if most else "name at least 4 words"
        raise OptionError(f"{_WHAT} cannot be done with {plural(p, 'word')} and so many factors",
                          found=f"{r:,}", do=do)  # fmt: skip
    return degrees


def _notes(n: int, uniquenesses: Float64, converged: bool) -> tuple[str, ...]:
    notes = []
    kept = uniquenesses[~np.isnan(uniquenesses)]
    p, constant = len(kept), len(uniquenesses) - len(kept)
    at_bound = int(np.sum(kept <= LEAST * (1 + 1e-9)))
    if constant:
        are = several(constant, "word does", "words do")
        notes.append(f"{are} not vary and took no part in {_WHAT}")
    if n < ENOUGH * p:
        notes.append(f"{n:,} documents are fewer than {ENOUGH} times the {p:,} words: "
                     f"{_WHAT} rejects too often")  # fmt: skip
    if at_bound:
        have = several(at_bound, "word has", "words have")
        notes.append(f"{have} no noise left (uniqueness {LEAST:g}), where χ² is doubtful")
    if not converged:
        notes.append(f"the fit of {_WHAT} did not converge: its statistic is too large")
    return tuple(notes)
