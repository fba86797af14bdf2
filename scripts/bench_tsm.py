"""Updates of thresholded similarity matching, compared with eigsh on the dense matrix.

    scripts/bench tsm VECTORS [--words 5000 10000] [--dim 32] [--updates 10] [--threads 2]

Both run the updates of Saul (2022) without momentum from the same start, on the first vectors of
the file. Theirs writes Z as a dense float32 array and takes its K eigenpairs of largest magnitude
by `scipy.sparse.linalg.eigsh` (--tol, ncv by default). Ours runs until the objective ‖L − Z‖² is
as low as theirs after --updates. The ratio is that of the total times.
"""

from __future__ import annotations

import argparse
import statistics
import time

import numpy as np
from bench_common import machine, seconds
from scipy.sparse.linalg import eigsh

from wordgeom.core.types import Float32, Float64
from wordgeom.linalg.device import open_context
from wordgeom.linalg.thresholded_join import count_cosines
from wordgeom.methods.tsm.alternation import OFF, Alternation, Constraint, State
from wordgeom.methods.tsm.factors import start_of
from wordgeom.methods.tsm.similarities import Similarities, similarities, unit_rows
from wordgeom.methods.tsm.targets import StoredTarget
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors.keyed import read_vectors

SPARSITY = 0.99
_MOST = 5  # times the updates of eigsh


def main() -> None:
    """Print the table."""
    args = parse()
    matrix = read_vectors(args.vectors).matrix
    print(f"{machine()}; {args.threads} threads; {time.strftime('%F')}\n")
    print("| words | K | ours: updates | median (min–max) s | eigsh: updates | median (min–max) s "
          "| ratio | objective / ‖S‖² |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|", flush=True)
    with open_context(RunOptions(threads=args.threads)) as context:
        for n in args.words:
            measure(matrix[:n].astype(np.float64), args, context)


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("vectors")
    parser.add_argument("--words", type=int, nargs="+", default=[5000, 10000])
    parser.add_argument("--dim", type=int, default=32)
    parser.add_argument("--updates", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tol", type=float, default=1e-3, help="relative accuracy of eigsh")
    return parser.parse_args()


def measure(points: Float64, args: argparse.Namespace, context: Context) -> None:
    """Print the row of some points."""
    points = points / np.abs(points).max()
    tau = count_cosines(unit_rows(points), context.pool).quantile(SPARSITY)
    similar = similarities(points, tau, context.pool)
    theirs, objective = by_eigsh(points, similar, args, context)
    ours, reached = alternated(points, similar, objective, args, context)
    cells = [f"{len(points):,}", str(args.dim)]
    for times in (ours, theirs):
        middle = f"{statistics.median(times):.3f} ({min(times):.3f}–{max(times):.3f})"
        cells += [str(len(times)), middle]
    cells += [f"{sum(theirs) / sum(ours):.1f}"]
    cells += [f"{reached / similar.square:.5f}, {objective / similar.square:.5f}"]
    print("| " + " | ".join(cells) + " |", flush=True)


def alternated(
    points: Float64, similar: Similarities, enough: float, args: argparse.Namespace,
    context: Context,
) -> tuple[list[float], float]:  # fmt: skip
    """Return the seconds of our updates until the objective is `enough`, and the objective."""
    target = StoredTarget(similar.panels, context.pool, momentum=False)
    alternation = Alternation(target, Constraint(OFF, 0.0, 0), 0.0, args.dim, context.ops)
    start = context.ops.tall(points, np.float32)
    state = State(start_of(start, args.dim, similar.threshold, context.ops))
    rounds = alternation.iterations(state, _MOST * args.updates)
    times = [seconds(lambda: next(rounds))]
    while state.objectives[-1] > enough:  # that of L before the last update
        times.append(seconds(lambda: next(rounds)))
    return times[:-1], state.objectives[-1]


def by_eigsh(
    points: Float64, similar: Similarities, args: argparse.Namespace, context: Context
) -> tuple[list[float], float]:
    """Return the seconds of updates by eigsh, and the objective after them."""
    S = dense(similar)
    start = context.ops.tall(points, np.float32)
    first = start_of(start, args.dim, similar.threshold, context.ops)
    basis, weights = first.basis, first.weights.astype(np.float32)

    def product() -> Float32:
        return np.asarray((basis * weights) @ basis.T)

    def update() -> None:
        nonlocal basis, weights
        Z = product()
        np.minimum(Z, 0.0, out=Z)
        np.copyto(Z, S, where=S > 0.0)
        weights, basis = eigsh(Z, args.dim, which="LM", tol=args.tol, v0=np.ones(len(Z), Z.dtype))

    times = [seconds(update) for _ in range(args.updates)]
    L = product()
    return times, float(np.square(np.where(S > 0.0, S - L, np.maximum(L, 0.0))).sum())


def dense(similar: Similarities) -> Float32:
    """Return S (n × n)."""
    S, start = np.zeros((similar.rows, similar.rows), np.float32), 0
    for panel in similar.panels:
        S[start + panel.entry_rows, panel.indices] = panel.data
        start += panel.rows
    return np.maximum(S, S.T)


if __name__ == "__main__":
    main()
