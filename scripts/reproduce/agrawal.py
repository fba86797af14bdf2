"""Agrawal, Ali and Boyd (2021), "Minimum-Distortion Embedding": chapters 7 and 8 on a CPU.

    scripts/reproduce/agrawal [--examples 7.1,7.3,7.4,8] [--images IMAGES LABELS] [--out DIR]
        [--python PYTHON] [--rivals DIR] [--starts 10] [--full] [--threads 2]

7.1, 7.3 and 7.4 need no data. 8 needs --images, MNIST's images and labels (idx, also .gz). --python
is an interpreter with PyMDE, umap-learn and openTSNE, which then run on the same problems; their
results are stored in --rivals. Figures are written to --out. --full adds Table 7.1's last row, with
m = 100, which takes most of the time.

The criteria, fixed before the first run. E is the average distortion:

Table 7.1   gap       After 40 steps, E is at most .5 % above the optimum in every row.
            growth    At m = 2, the exponent of the number of pairs in the time is at most 1.2.
Figure 7.3  norm      The three medium problems reach a residual norm of 1e-5 within 300 steps.
            overhead  A step of the standardised problem takes at most 1.5 times as long as one of
                      the centred problem.
Figure 7.4  mean      After 300 rounds, the mean E over the starts is at most 2 % above the optimum.
            range     The largest E is at most 3 % above it.
Chapter 8   connected The graph of 15 neighbours is connected.
            outliers  The largest distortion of the quadratic embedding is at least 10 times the
                      95 % quantile.
            classes   15 neighbours tell the digit more often in three dimensions than in two, and
                      with repulsion than without.
            penalties In this, the centred embeddings with log1p and Huber differ by less than .03.
            UMAP      The centred embedding is at most .03 below UMAP's.

A criterion that needs a missing row is not tested.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tables_report import heading

from wordgeom.core.errors import OptionError, WordgeomError

sys.path.insert(0, str(Path(__file__).parents[1]))

EXAMPLES = ("7.1", "7.3", "7.4", "8")


def main() -> None:
    """Print the tables and draw the figures."""
    args = parse()
    try:
        make(args)
    except (WordgeomError, OSError) as error:
        raise SystemExit(f"error: {error}") from None


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--examples", help="of 7.1, 7.3, 7.4 and 8, separated by commas")
    parser.add_argument("--images", type=Path, nargs=2, metavar=("IMAGES", "LABELS"))
    parser.add_argument("--out", type=Path, default=Path("agrawal"), help="for figures")
    parser.add_argument("--python", help="interpreter with PyMDE, umap-learn and openTSNE")
    parser.add_argument("--rivals", type=Path, default=Path("rivals"))
    parser.add_argument("--starts", type=int, default=10, help="of Figure 7.4; 100 in the book")
    parser.add_argument("--full", action="store_true", help="all rows of Table 7.1")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def wanted(args: argparse.Namespace) -> list[str]:
    """Return the examples to run; raises OptionError for one that lacks its data."""
    if args.examples is None:
        return [name for name in EXAMPLES if name != "8" or args.images]
    names = [name.strip() for name in args.examples.split(",")]
    for name in names:
        if name not in EXAMPLES:
            raise OptionError(f"--examples are {', '.join(EXAMPLES)}", found=name)
    if "8" in names and not args.images:
        raise OptionError("chapter 8 needs --images", do="see --help")
    return names


def make(args: argparse.Namespace) -> None:
    """Print the tables and draw the figures; raises WordgeomError."""
    names = wanted(args)
    import agrawal_images
    import agrawal_synthetic as synthetic
    import mnist_images
    from mde_problems import Rivals, compiled

    from wordgeom.linalg.device import open_context
    from wordgeom.runtime.run_options import RunOptions

    images = mnist_images.read(*args.images) if "8" in names else None
    args.out.mkdir(parents=True, exist_ok=True)
    print(heading("agrawal", args.threads), flush=True)
    rivals = Rivals(args.python, args.rivals, args.threads)
    with open_context(RunOptions(threads=args.threads, seed=1)) as context:
        compiled(context)
        if "7.1" in names:
            synthetic.table_7_1(args.full, rivals, context)
        if "7.3" in names:
            synthetic.figure_7_3(rivals, args.out, context)
        if "7.4" in names:
            synthetic.figure_7_4(args.starts, args.out, context)
        if images is not None:
            agrawal_images.run(images, rivals, args.out, context)


if __name__ == "__main__":
    main()
