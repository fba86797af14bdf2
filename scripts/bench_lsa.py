"""Speed of LSA compared with scikit-learn, gensim and SciPy, and the variance that each captures.

    scripts/bench lsa DTM [--dim 300] [--rounds 3] [--slow]

DTM is a directory written by build-dtm. `wg.train` reads it, weights it by log(1 + x) and computes
word and document vectors; the baselines get the weighted matrix in memory. TruncatedSVD runs with
its defaults (randomized, n_iter 5) on float32, alternating with wordgeom, and once on float64.
--slow adds gensim's LsiModel and SciPy's svds, once each. The captured share is ‖XV‖² / ‖X‖² for an
orthonormal basis V of each result, computed by the same code.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import scipy.sparse
from bench_common import machine, paired, row

import wordgeom as wg
from wordgeom.matrices.document_term import StoredDocuments

Basis = np.ndarray  # (V × K)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dtm", help="a directory written by build-dtm")
    parser.add_argument("--dim", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slow", action="store_true", help="also run LsiModel and svds, once each")
    args = parser.parse_args()
    counts = StoredDocuments.open(args.dtm).to_scipy()
    X = counts.astype(np.float32).log1p()
    print(
        f"{machine()}; {time.strftime('%F')}; {X.shape[0]:,} × {X.shape[1]:,}, {X.nnz:,} entries\n"
    )
    print(f"| LSA, K = {args.dim} | median (min–max) s | baseline | median s | ratio | captured |")
    print("|---|---|---|---|---|---|")
    compare(args, X)


def compare(args: argparse.Namespace, X: scipy.sparse.csr_array) -> None:
    """Time wordgeom and TruncatedSVD alternately, then the slow ones once."""
    made: dict[str, Basis] = {}
    statistics_of: list[dict[str, list[float]]] = []

    def ours() -> None:
        model = wg.train(args.dtm, "lsa", dim=args.dim)
        made["ours"] = model.vectors
        statistics_of.append(model.statistics)

    def theirs() -> None:
        made["theirs"] = truncated(X, args.dim)

    times, other = paired(ours, theirs, args.rounds)
    last = statistics_of[-1]
    worst = np.divide(last["residuals"], last["spectrum"]).max()
    shares = f"{share(X, made['ours']):.4f} (worst ‖Xᵀu − σv‖ {worst:.1e} σ), "
    row("lsa", times, "TruncatedSVD, float32", other, shares + f"{share(X, made['theirs']):.4f}")
    once: dict[str, Callable[[], Basis]] = {
        "TruncatedSVD, float64": lambda: truncated(X.astype(np.float64), args.dim)
    }
    if args.slow:
        once["gensim LsiModel"] = lambda: lsi(X, args.dim)
        once["svds, float32"] = lambda: svds(X, args.dim)
    for name, run in once.items():
        start = time.perf_counter()
        basis = run()
        took = time.perf_counter() - start
        cells = [f"{took:.2f}", f"{took / statistics.median(times):.2f}", f"{share(X, basis):.4f}"]
        print("| " + " | ".join(["", "", f"{name}, once", *cells]) + " |", flush=True)


def truncated(X: scipy.sparse.csr_array, dim: int) -> Basis:
    """Return the basis of scikit-learn's TruncatedSVD with its defaults."""
    from sklearn.decomposition import TruncatedSVD

    return np.asarray(TruncatedSVD(dim, random_state=1).fit(X).components_.T)


def lsi(X: scipy.sparse.csr_array, dim: int) -> Basis:
    """Return the basis of gensim's LsiModel with its defaults."""
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LsiModel

    words = {j: str(j) for j in range(X.shape[1])}
    corpus = Sparse2Corpus(scipy.sparse.csc_matrix(X.T), documents_columns=True)
    model = LsiModel(corpus, num_topics=dim, id2word=words, random_seed=1)
    return np.asarray(model.projection.u)


def svds(X: scipy.sparse.csr_array, dim: int) -> Basis:
    """Return the basis of SciPy's svds (ARPACK) with its defaults."""
    from scipy.sparse.linalg import svds as arpack

    return np.asarray(arpack(X, dim, rng=np.random.default_rng(1))[2].T)


def share(X: scipy.sparse.csr_array, basis: Basis) -> float:
    """Return the share of ‖X‖² captured by the span of a basis (V × K)."""
    Q = np.linalg.qr(basis.astype(np.float64))[0]
    return float(np.sum((X @ Q) ** 2) / np.sum(X.data.astype(np.float64) ** 2))


if __name__ == "__main__":
    main()
