"""Factor test T (Carrington 2021, §5.5.1, eq. 5.14): do r static factors explain the covariance?

Under X = A B₀ + Z, with independent rows and a noise variance per word, T = n (tr MΣ̂⁻¹ −
log |MΣ̂⁻¹| − p) tends to χ² with ν = ½((p − r)² − p − r) degrees of freedom; M is the words'
covariance and Σ̂ its best fit by r factors. T ignores times: words that change look like additional
factors (Proposition 5). So T rejects both a change and too small an r, and with too large an r it
detects neither.

With the factor n the test rejects too often unless n is many times p. With Bartlett's factor
n − 1 − (2p + 5)/6 − 2r/3, as in R's factanal, the χ² approximation holds from about n = 4p.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.formatting import plural, several
from wordgeom.core.types import Array, Csr, Float64
from wordgeom.drift.factor_analysis import LOWER_BOUND, fit
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.memory import check_memory

ASSUMPTION = "the number of factors is right: too few lead to rejection, just as change does"
MAX_WORDS = 2000  # the time of each iteration grows with the cube
DOCUMENTS_PER_WORD = 4  # for the χ² approximation
_CONSTANT = 1e-12  # relative to a column's mean square: a smaller variance is rounding
_SINGULAR = 1e-10  # a smaller eigenvalue of the correlations is rounding
_WHAT = "the factor test"


@dataclass(frozen=True, eq=False)
class FactorTest:
    """Result of the factor test on p words.

    statistic, p: Bartlett-corrected; plain, plain_p: uncorrected eq. 5.14; degrees: ν; uniquenesses
    (p): NaN for constant words; eigenvalues of MΣ̂⁻¹ for the other words, ascending; notes: for the
    user.
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
    """Test r factors on documents × words (n × p); needs as much memory again as X.

    The result does not depend on the scale of words. Raises InputError for numbers that are not
    finite, p ≥ n and linearly dependent words, OptionError if r leaves no degrees of freedom.
    """
    from scipy.special import chdtrc

    R, varying = _correlations(X)
    n, p = len(X), len(R)
    degrees = _checked_degrees(n, p, r)
    if np.linalg.eigvalsh(R)[0] < _SINGULAR:
        do = "leave out repeated words, or one word if rows add up to 1"
        raise InputError(f"{_WHAT} needs linearly independent words", do=do)
    model = fit(R, r)
    plain = n * model.discrepancy
    statistic = (n - 1 - (2 * p + 5) / 6 - 2 * r / 3) * model.discrepancy
    uniquenesses = np.full(len(varying), np.nan)
    uniquenesses[varying] = model.uniquenesses
    return FactorTest(
        statistic, plain, degrees, float(chdtrc(degrees, statistic)),
        float(chdtrc(degrees, plain)), uniquenesses, model.eigenvalues, model.converged,
        _notes(n, uniquenesses, model.converged),
    )  # fmt: skip


def factor_matrix(X: Csr, memory: int) -> Float64:
    """Return a sparse matrix (n × p) as a dense one, for `factor_test`.

    memory: limit in bytes of both together. Raises InputError for more than MAX_WORDS words, and if
    the limit is exceeded.
    """
    if X.columns > MAX_WORDS:
        what, do = f"{_WHAT} takes at most {MAX_WORDS:,} words", "name the words to test"
        raise InputError(what, found=f"{X.columns:,}", do=do)
    what = f"the {X.rows:,} × {X.columns:,} numbers of {_WHAT}"
    check_memory(what, 16 * X.rows * X.columns, memory, "name the words to test")
    dense = np.zeros((X.rows, X.columns))
    dense[X.entry_rows, X.indices] = X.data
    return dense


def degrees_of_freedom(p: int, r: int) -> int:
    """Return ν: covariances of p words minus parameters of r factors; no test if ν ≤ 0."""
    return ((p - r) ** 2 - p - r) // 2


def _correlations(X: Float64) -> tuple[Float64, Array]:
    """Return the correlations of the words that vary, and the mask (p) of these words."""
    if not np.isfinite(X).all():
        raise InputError(f"{_WHAT} needs finite numbers", do="check the weights")
    centred = X - X.mean(axis=0)
    squares = np.einsum("ij,ij->j", centred, centred)
    varying = squares > _CONSTANT * np.einsum("ij,ij->j", X, X)
    if not varying.all():
        centred = centred[:, varying]
    centred /= np.sqrt(squares[varying])
    with one_thread():
        return centred.T @ centred, varying


def _checked_degrees(n: int, p: int, r: int) -> int:
    """Return ν. Raises InputError for p ≥ n, OptionError if ν would not be positive."""
    if p >= n:
        found = f"{plural(n, 'document')} and {plural(p, 'word')}"
        raise InputError(f"{_WHAT} needs more documents than words", found=found,
                         do="name fewer words to test")  # fmt: skip
    degrees = degrees_of_freedom(p, r)
    if not 1 <= r < p or degrees <= 0:
        most = sum(degrees_of_freedom(p, k) > 0 for k in range(1, p))
        if not most:
            raise OptionError(f"{_WHAT} needs at least 4 words", found=f"{p}", do="name more words")
        what, do = f"{_WHAT} of {p:,} words allows 1 to {most:,} factors", "change --rank"
        raise OptionError(what, found=f"{r:,}", do=f"{do} or name more words")
    return degrees


def _notes(n: int, uniquenesses: Float64, converged: bool) -> tuple[str, ...]:
    notes = []
    known = uniquenesses[~np.isnan(uniquenesses)]
    p, constant = len(known), len(uniquenesses) - len(known)
    at_bound = int(np.sum(known <= LOWER_BOUND * (1 + 1e-9)))
    if constant:
        are = several(constant, "word is", "words are")
        notes.append(f"{are} constant and left out of {_WHAT}")
    if n < DOCUMENTS_PER_WORD * p:
        few = f"{n:,} documents are fewer than {DOCUMENTS_PER_WORD} times the {p:,} words"
        notes.append(f"{few}: {_WHAT} rejects too often")
    if at_bound:
        have = several(at_bound, "word has", "words have")
        notes.append(f"{have} no noise left (uniqueness {LOWER_BOUND:g}), where χ² is unreliable")
    if not converged:
        notes.append(f"the fit of {_WHAT} did not converge: its statistic is too large")
    return tuple(notes)
