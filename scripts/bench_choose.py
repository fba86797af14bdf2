"""The choice of the defaults of gbu's squared loss by WordSim-353 and the Google analogies.

    scripts/bench choose CORPUS [--dims 100 300]

Vectors of each dimension are trained with every setting of a grid. The criterion is the sum, over
all dimensions, of Spearman's ρ on WordSim-353 and 3CosAdd accuracy on the Google analogies.
Cross-validation measures the quality of the choice: settings are chosen on the other folds and
evaluated on the held-out fold.
"""

from __future__ import annotations

import argparse
import itertools
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from bench_common import machine, wordgeom
from bench_gbu import COUNT, SQUARED, WINDOW, answers_of, figures, sets_of

from wordgeom.core.types import Float32
from wordgeom.evaluation.answers import Answers, Task
from wordgeom.vectors.keyed import Vectors, read_vectors

GRID = {
    "--neg": ("0.3", "0.2", "0.1"),
    "--ridge": ("1", "3", "10"),
}
MIXES = (1.0, 0.3, 0.2, 0.1, 0.0)
FOLDS = 5


def main() -> None:
    """Run all measurements and print them."""
    args = parse()
    print(f"{machine()}; {time.strftime('%F')}\n")
    with tempfile.TemporaryDirectory(dir=args.scratch) as scratch:
        choose(args.corpus, args.dims, Path(scratch), sets_of([]))


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("corpus", help="an uncompressed text file, tokenised by white space")
    parser.add_argument("--dims", nargs="*", type=int, default=[100, 300])
    parser.add_argument("--scratch", help="directory for temporary files")
    return parser.parse_args()


def choose(corpus: str, dims: Sequence[int], folder: Path, tasks: Sequence[Task]) -> None:
    """Print each setting's scores on WordSim-353 and the analogies, and the folds' choices."""
    cooc = folder / "cooc"
    wordgeom([*COUNT, *WINDOW, corpus, "-o", str(cooc)])
    names = " | ".join(f"K = {dim}: WordSim-353 | Google" for dim in dims)
    print(f"| {Path(corpus).name} | {names} |\n|{'---|' * (1 + 2 * len(dims))}")
    settings: list[str] = []
    found: list[list[list[Answers]]] = []  # by setting, dimension and set
    for values in itertools.product(*GRID.values()):
        given = list(itertools.chain.from_iterable(zip(GRID, values, strict=True)))
        factors = [both_factors(cooc, dim, given, folder) for dim in dims]
        for mix in MIXES:
            settings.append(f"{' '.join(given)} --mix {mix:g}")
            mixed = [
                Vectors(own.words, own.matrix + np.float32(mix) * other) for own, other in factors
            ]
            found.append([answers_of(vectors, [tasks[0], tasks[-1]]) for vectors in mixed])
            scores = " | ".join("{:.4f} | {:.4f}".format(*figures(one)) for one in found[-1])
            print(f"| {settings[-1]} | {scores} |", flush=True)
    fold_by_fold(settings, found)


def both_factors(
    cooc: Path, dim: int, given: Sequence[str], folder: Path
) -> tuple[Vectors, Float32]:
    """Return the vectors of --mix 0, and the matrix that --mix 1 adds."""
    out, made = folder / "one.bin", []
    for mix in ("0", "1"):
        train = ["train", str(cooc), "--method", "gbu", *SQUARED, "--dim", str(dim), *given]
        wordgeom([*train, "--mix", mix, "-o", str(out), "--force", "--quiet"])
        made.append(read_vectors(out))
    own, both = made
    return own, both.matrix - own.matrix


def fold_by_fold(settings: Sequence[str], found: Sequence[Sequence[Sequence[Answers]]]) -> None:
    """Print the setting chosen on the other folds, and its scores on each held-out fold."""
    rng = np.random.default_rng(1)
    orders = [rng.permutation(len(answers.items)) for answers in found[0][0]]

    def best(items: Sequence[np.ndarray] | None) -> int:
        sums = [sum(sum(figures(one, items)) for one in each) for each in found]
        return int(np.argmax(sums))

    for fold in range(FOLDS):
        chosen = best([np.delete(order, np.s_[fold::FOLDS]) for order in orders])
        outside = [order[fold::FOLDS] for order in orders]
        held_out = ", ".join(
            "{:.4f} and {:.4f}".format(*figures(one, outside)) for one in found[chosen]
        )
        print(f"fold {fold + 1}: {settings[chosen]}; held out {held_out}")
    print(f"all: {settings[best(None)]}")


if __name__ == "__main__":
    main()
