"""Saul (2022), "A geometrical connection between sparse and low-rank matrices": its results.

    scripts/reproduce/saul [--vectors FILE] [--images IMAGES LABELS] [--out DIR]
        [--dims 4,8,16,32,64,128] [--words 5000] [--digits 10000] [--extended 0]
        [--few 4000] [--few-dims 4,8,16,32,64,128] [--threads 2]

--vectors: word vectors, the most frequent words first, which stand for fastText's. --images:
MNIST's images and labels (idx, also .gz). Without one of them, its part of the results is left out.
Words are the first --words of the file, the words of gensim's analogies, and the 15 nearest
neighbours of each of those, as in section 2.3 (the paper: 18,000 and 25,124 in all). --digits:
images, the first of the file (14,000). Figures 6 and 7 take the first --extended words and digits
(0: all), and a fifth of either as landmarks. Figures 8, 9 and 11 and the sum constraint take
smaller sets, the first --few of the words and digits, because Isomap's time grows with the cube of
their number; Figures 3 and 4 are also printed for these. Vectors, scores and figures are stored in
--out: an interrupted run continues where it was.

τ leaves 99 % of the pairs below it. One seed, 250 updates, momentum .9, no sum constraint.

The criteria, fixed before the first run of this script (docs/methods/tsm.md had results on 4,000
digits and on up to 25,000 words at d = 8 to 64 before). Δ is the mean angle error of similar pairs,
J the Jaccard index of similar pairs. "Every d" is each dimension from 16 on.

Figure 2   near        At most 5 % of the items have no other at a cosine above τ.
Figure 3   Δ           TSM has a lower Δ than SVD at every d, on words and on digits.
Figure 4   J           TSM has a higher J than SVD at every d, on words and on digits.
Figure 5   semantic    At d = 32, TSM completes more semantic analogies than SVD, and the 95 %
                       interval of the difference, resampled by word pairs, is above 0.
           syntactic   The same for syntactic analogies.
           both        The same for all analogies; added after the first run.
           larger      The difference is larger for semantic than for syntactic analogies. Each by
                       eq. 13, which takes vectors with their lengths, and by `eval`'s 3CosAdd.
Table 1    examples    At d = 32, every category has a question that TSM completes and SVD does not.
Figure 6   Δ           TSM with landmarks has a lower Δ than SVD at d = 16, 32 and 64.
           smaller     Its lead over SVD is smaller than that of TSM in Figure 3 at the same d.
Figure 7   J           TSM with landmarks has a higher J than SVD at d = 16, 32 and 64.
Figure 8   descent     At d = 32, the objective ends below its start, on words and on digits.
           momentum    It ends lower with momentum than without.
           monotone    Without momentum, it does not rise after the first update.
Figure 9   low d       Isomap's J is above TSM's at the lowest d, on words and on digits.
           decline     Isomap's J at the highest d is below its best.
Figure 11  onset       The rank by magnitude of the first negative eigenvalue is at most the lowest
                       d at which Isomap's J is below that at the d before.
           frequency   More of the eigenvalues 101 to 200 are negative than of 1 to 100, by
                       magnitude.
Constraint default     No other sum constraint has both a lower Δ and a higher J than `off` in all
                       cells: words and digits at d = 16 and 32.

A criterion that needs a missing row is not tested.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tables_report import heading, parser_of, report

from wordgeom.core.errors import OptionError


def main() -> None:
    """Print the tables and draw the figures."""
    report(make, parse())


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--vectors", type=Path, help="word vectors, most frequent words first")
    parser.add_argument("--images", type=Path, nargs=2, metavar=("IMAGES", "LABELS"))
    parser.add_argument("--out", type=Path, default=Path("saul"), help="vectors and figures")
    parser.add_argument("--dims", default="4,8,16,32,64,128")
    parser.add_argument("--few-dims", help="dimensions of the smaller sets, by default --dims")
    parser.add_argument("--words", type=int, default=5000, help="most frequent words")
    parser.add_argument("--digits", type=int, default=10_000, help="images")
    parser.add_argument("--few", type=int, default=4000, help="items of Figures 8, 9 and 11")
    parser.add_argument("--extended", type=int, default=0, help="items of Figures 6 and 7; 0: all")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def dimensions(text: str, option: str) -> list[int]:
    """Return the distinct dimensions of a list, ascending; raises OptionError."""
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) for part in parts):
        raise OptionError(f"{option} must be numbers separated by commas", found=text)
    return sorted({int(part) for part in parts})


def make(args: argparse.Namespace) -> None:
    """Print the tables and draw the figures; raises WordgeomError."""
    dims = dimensions(args.dims, "--dims")
    few_dims = dimensions(args.few_dims, "--few-dims") if args.few_dims else dims
    if not (args.vectors or args.images):
        raise OptionError("nothing to do without --vectors and --images", do="see --help")
    import saul_analogies
    import saul_isomap
    import saul_landmarks
    import saul_matching
    from saul_cells import Cells
    from saul_data import WORDS, digit_study, word_study

    from wordgeom.linalg.device import open_context
    from wordgeom.plot.figure import check
    from wordgeom.runtime.run_options import UseOptions

    args.out.mkdir(parents=True, exist_ok=True)
    check(args.out / "figure-3-4.png", force=True)
    print(heading("saul", args.threads), flush=True)
    cells, rest = Cells(args.out, args.threads), (args.few, args.extended, args.out)
    with open_context(UseOptions(threads=args.threads, seed=1)) as context:
        studies = []
        if args.vectors:
            studies.append(word_study(args.vectors, args.words, *rest, context))
        if args.images:
            studies.append(digit_study(args.images, args.digits, *rest))
        print("\n" + "\n".join(f"* {one.text()}" for one in studies), flush=True)
        whole = {one.name: {d: cells.cell(one.chosen, d) for d in dims} for one in studies}
        smaller = {one.name: {d: cells.cell(one.few, d) for d in few_dims} for one in studies}
        saul_matching.run(studies, whole, smaller, cells, context)
        for one in studies:
            if one.name == WORDS:
                saul_analogies.run(one.chosen, whole[WORDS], args.out, context)
        saul_landmarks.run(studies, whole, cells, dims)
        saul_isomap.run(studies, smaller, cells, context)


if __name__ == "__main__":
    main()
