"""Yao, Yu and Xiao (2019), "Latent Semantic Imputation", §5: Table 1, Figure 4, Table 2.

    scripts/reproduce/yao --returns RETURNS.csv --companies COMPANIES.csv --vectors VECTORS.bin \
        [--text CORPUS.txt] [--table1] [--figure4] [--table2] [--out DIR] [--seeds 5]

--returns has daily log returns, date × ticker; --companies has the columns ticker, first_word and
gics_sector; --vectors is a word2vec file of word vectors; --text is a corpus that contains names of
firms, for Table 2; --out is the directory for figure4.png; --seeds is the number of seeds of Table
2. Without --table1, --figure4 or --table2, all three run, Table 2 only with a text.

The criteria, fixed before the first run, are for first words that name a firm (`yao_firms.NAMES`),
δ = 8, simplex weights, the exact solution, Euclidean distance and unweighted votes:

Table 1  Accuracy after imputation (all firms) is above accuracy before (known firms) at every k,
         their 95 % intervals do not overlap at k = 2, 5 and 8, and accuracy never rises with k.
Figure 4 With the paper's iteration (η = 1e-2), max − min of the accuracy over δ = 5 … 20 is at
         most .1, at k = 5 and at k = 10.
Table 2  Perplexity over all test tokens is lower for base + aff than for base: the 95 % interval
         of the difference, paired by seed, excludes 0.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import yao_figure4
import yao_table1
import yao_table2
from tables_report import parser_of, report
from yao_firms import read_firms
from yao_lstm import require_torch

from wordgeom.core.errors import InputError, OptionError
from wordgeom.linalg.device import open_context
from wordgeom.plot.figure import check
from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors.keyed import Vectors, read_vectors


def main() -> None:
    """Run the experiments."""
    report(make, parse())


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--returns", required=True, help="daily log returns, date × ticker")
    parser.add_argument("--companies", required=True, help="ticker, first_word, gics_sector")
    parser.add_argument("--vectors", required=True, help="word vectors, a word2vec file")
    parser.add_argument(
        "--text", type=Path, help="a text file that contains names of firms, for Table 2"
    )
    for name in ("table1", "figure4", "table2"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--out", type=Path, default=Path(), help="directory for figure4.png")
    parser.add_argument("--seeds", type=int, default=5, help="number of seeds of Table 2")
    parser.add_argument("--threads", type=int, default=0)
    return parser.parse_args()


def make(args: argparse.Namespace) -> None:
    """Print the tables and draw the figure; raises WordgeomError for invalid input."""
    every = not (args.table1 or args.figure4 or args.table2)
    if args.table2 and args.text is None:
        raise OptionError("--table2 needs --text", do="pass a text that contains names of firms")
    if args.seeds < 1:
        raise OptionError("--seeds must be at least 1", found=args.seeds)
    plot = args.out / "figure4.png"
    if every or args.figure4:
        check(plot, force=True)
    table2 = args.table2 or (every and args.text is not None)
    if table2:
        require_torch()
    start = time.perf_counter()
    firms = read_firms(args.returns, args.companies)
    vectors = finite(read_vectors(args.vectors), args.vectors)
    print(f"# {Path(args.vectors).name}, {time.strftime('%F')}\n\n" + "; ".join(firms.notes) + "\n")
    with open_context(RunOptions(threads=args.threads)) as context:
        if every or args.table1:
            yao_table1.run(firms, vectors, context)
        if every or args.figure4:
            yao_figure4.run(firms, vectors, context, plot)
        if table2:
            yao_table2.run(firms, vectors, args.text, args.seeds, context)
    print(f"{time.perf_counter() - start:.0f} s")


def finite(vectors: Vectors, path: str) -> Vectors:
    """Return the vectors; raises InputError for a number that is not finite."""
    bad = ~np.isfinite(vectors.matrix).all(axis=1)
    if bad.any():
        word = vectors.words[int(np.argmax(bad))]
        raise InputError("a vector is not finite", where=path, found=repr(word))
    return vectors


if __name__ == "__main__":
    main()
