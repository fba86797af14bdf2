"""Carrington (2021), "Mathematical Aspects of Word Embeddings": chapters 2 to 4.

    scripts/reproduce/carrington-2-4 DTM [--sgns FILE …] [--sets FILE …] [--out DIR] [--runs 20]
        [--largest FILE] [--simulated 1000] [--threads 2]

DTM holds document-term counts (`wordgeom build-dtm`), which stand for COHA. --sgns: skip-gram
vectors of the same text, one file for each dimension. --largest: skip-gram vectors of the largest
text at hand, for Tables 3.8 and 3.9, which have Google's; by default, the widest of --sgns.
--simulated: words of Figures 4.5 to 4.7, 10,000 in the thesis. --sets: similarity sets besides
gensim's WordSim-353 and SimLex-999, such as EN-MTurk-287.txt; sets that are not given are named.
Figures are written to --out.

The criteria, fixed before the first run. A score is a correlation of cosines with human scores.
LSA has the plain counts at r = 300 unless stated otherwise.

Table 2.4, 2.5  weights     At every r, plain < row-normalised < PPMI on WordSim-353 (α = 0), for
                            Pearson and Spearman.
                dimension   Pearson rises from r = 10 to r = 100, and by less than .05 from there.
                PPMI        The best Spearman of PPMI exceeds that of skip-gram.
Table 3.2       most        Orthonormal columns raise more than half of the sets, at each r.
Table 3.3       range       The best α differ by .5 or more.
Table 3.4, 3.6, 3.7  own    A triangular map raises Pearson on its own set by .1 or more, each set.
Table 3.5       others      On other sets, some scores rise and some fall.
Table 3.8       own         A triangular map raises Pearson on both sets by .1 or more.
Table 3.9, 3.10 order       Original > every diagonal > every triangular map, on the analogies.
Table 4.2       majorisation  Its best objective over ten starts is at or below the best of SGD.
                rate        The best mean objective is at a middle rate, neither least nor largest.
Table 4.3       own         Pearson on WordSim-353 rises with every lower λ.
                level       It exceeds .9 at the smallest λ.
                others      On the other sets it moves by less than .05 from λ = 1.
Figure 4.5      decay       At every rate, the largest decay ends at a higher mean L than none.
Figure 4.6      decay       At every rate, the largest decay takes less time to converge than none.
                rate        At every decay, the highest rate takes less time than the lowest.
Figure 4.7      majorise    Its mean L after 100 steps is below the best of SGD.
                time        It takes more time than the fastest SGD.
Figure 3.6      diagonals   The best of Λ = Φ is less than .05 above the best of the others.
Figure 3.8      smooth      The best α is above 0, and no step of .2 in α changes the accuracy by
                            half of the best.

A criterion that needs a missing row is not tested.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import carrington_24_analogies as analogies
import carrington_24_dimension as dimension
import carrington_24_identifiability as identifiability
import carrington_24_large as large
import carrington_24_mds as mds
from carrington_24_spaces import judges, lsa, skip_grams
from tables_report import conclude, heading, parser_of, report

from wordgeom.plot.figure import check
from wordgeom.vectors.keyed import read_vectors

_R, _R_MDS = 300, 100


def main() -> None:
    """Print the tables and draw the figures."""
    report(make, parse())


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = parser_of(__doc__)
    parser.add_argument("documents", type=Path, metavar="DTM")
    parser.add_argument("--sgns", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--sets", type=Path, nargs="*", default=[], metavar="FILE")
    parser.add_argument("--largest", type=Path, metavar="FILE")
    parser.add_argument("--simulated", type=int, default=1000, metavar="WORDS")
    parser.add_argument("--out", type=Path, default=Path(), help="directory for the figures")
    parser.add_argument("--runs", type=int, default=20, help="draws of Tables 3.9 and 3.10")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def make(args: argparse.Namespace) -> None:
    """Print the tables and draw the figures; raises WordgeomError."""
    check(args.out / "figure-2.1.png", force=True)
    print(heading("carrington-2-4", args.threads), flush=True)
    spaces = {name: lsa(args.documents, weight, max(dimension.DIMS), args.threads)
              for name, weight in dimension.WEIGHTS.items()}  # fmt: skip
    sgns = skip_grams(args.sgns)
    largest = read_vectors(args.largest) if args.largest else sgns.get(max(sgns, default=0))
    with judges(args.sets, args.threads) as (held, missing):
        print(f"\nSets that are not at hand: {', '.join(missing) or 'none'}.")
        plain = spaces["plain"]
        original = plain.space(_R, 0.0)
        dimension.run(spaces, sgns, held, args.out)
        identifiability.table_3_2(sgns, held)
        identifiability.table_3_3(plain, _R, held, args.out)
        title = f"### Table 3.4: the best triangular map, LSA, r = {_R}"
        fitted = identifiability.best_maps(title, original, held)
        identifiability.table_3_5(fitted, held)
        for number, r in (("3.6", 100), ("3.7", 300)):
            if r in sgns:
                title = f"### Table {number}: the best triangular map, skip-gram, r = {r}"
                identifiability.best_maps(title, sgns[r], held)
        conclude([identifiability.figure_3_6(plain, _R, held, args.out)])
        if largest is not None:
            title = f"### Table 3.8: the best triangular map, skip-gram, {_named(args)}"
            identifiability.best_maps(title, largest, held.only("SimLex-999", "WordSim-353"))
            analogies.random_maps("3.9", largest, held, args.runs, args.out)
        analogies.random_maps("3.10", original, held, args.runs, None)
        conclude([analogies.figure_3_8(plain, _R, held, args.out)])
        mds.simulation(held, args.out)
        large.simulation(args.simulated, held, args.out)
        mds.documents(args.documents, _R_MDS, args.threads, held)


def _named(args: argparse.Namespace) -> str:
    """Return the name of the file of the largest skip-gram vectors."""
    name: str = (args.largest or max(args.sgns, key=lambda path: path.stem)).name
    return name


if __name__ == "__main__":
    main()
