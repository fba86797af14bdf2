"""Khalife, Gonçalves and Liberti (2022), "Distance Geometry for Word Representations": Tables 1-7.

    scripts/reproduce/khalife [--tables 1,2,3,4,5,6,7] [--counts COOC] [--vectors NAME=FILE …]
        [--qvec ORACLE] [--proteins FILE …] [--tasks FILE …] [--webkb FILE]
        [--subjectivity PLOT QUOTE] [--amazon FILE] [--out DIR] [--dims 100,200,300] [--full]

Tables 1 and 2 need no data. Tables 3 and 7 need --counts, co-occurrence counts of a corpus; Table 5
also needs --qvec, and Table 6 at least one of --webkb, --subjectivity and --amazon. Table 4 needs
--proteins, sequences without a target (FASTA, or CSV with a column sequence), and --tasks, tables
with the columns sequence, target and is_train. Without --tables, every table runs whose data are
given. --vectors adds rows such as glove=glove-100.bin to Tables 5, 6 and 7 (repeatable). Vectors
trained on --counts are stored in --out and used again. The default setting is reduced: 3 runs per
cell of Tables 1 and 2, 10 epochs of doc2vec, at most 3,000 documents of 100 words per data set for
the convolutional network at K = 100. --full uses 10 runs, 25 epochs, all documents of 400 words and
all --dims.

The criteria, fixed before the first run. "Published" is the algorithm as printed, on PMI:

Table 1  exact    With exact data, Algorithm 1 has a lower mean score and takes less time than Adam,
                  at both rates, in every cell.
         noise    With noise, Algorithm 1 fails (is not finite) in some run at K = 200 and both n,
                  never at K = 3; Adam never fails.
Table 2  rate     With m = ⌈1.5 K⌉ and noise, Algorithm 1 never fails and has a lower mean score and
                  less time than Adam in every cell: once for rate 1e-3, once for rate 1e-1.
Table 3  growth   From V/8 words to V, the exponent of n in the CPU time of published gbu is at most
                  1.15; from the smallest K to the largest, its exponent of K is at most 3, and that
                  of pmi-eigs too.
         order    At every n and K, published gbu takes less than published pmi-eigs.
Table 4  scores   For both tasks and windows, published gbu has a higher R² and a lower mean
                  absolute error than doc2vec.
         time     It takes at most a tenth of doc2vec's training time, for both windows.
Table 5  order    QVEC: random < published gbu < published dc < published pmi-eigs at every K.
         peers    GloVe and fastText score above published dc and below published pmi-eigs.
Table 6  random   F1 of the network: random vectors score at least 3 points below every other row on
                  Subjectivity and Amazon, and at most 3 points below on WebKB.
         close    Published gbu is within 2 points of the best of GloVe, fastText and skip-gram.
Table 7  order    CPU time at every K: published gbu < published dc < published pmi-eigs < peers.
         half     Published gbu takes at most half the time of published pmi-eigs at every K.

A criterion that needs a missing row is not tested.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from tables_report import heading, parser_of, report

from wordgeom.core.errors import OptionError


def main() -> None:
    """Print the tables."""
    report(make, parse())


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = parser_of(__doc__)
    parser.add_argument("--tables", help="numbers from 1 to 7, separated by commas")
    parser.add_argument("--counts", type=Path, help="co-occurrence counts of a corpus")
    parser.add_argument("--vectors", action="append", default=[], metavar="NAME=FILE",
                        help="more vectors of the same corpus (repeatable)")  # fmt: skip
    parser.add_argument("--qvec", type=Path, help="QVEC's oracle")
    parser.add_argument("--proteins", type=Path, nargs="+", help="sequences to train on")
    parser.add_argument("--tasks", type=Path, nargs="+", help="sequences with targets")
    parser.add_argument("--webkb", type=Path, help="class TAB … TAB text lines")
    parser.add_argument("--subjectivity", type=Path, nargs=2, metavar=("PLOT", "QUOTE"))
    parser.add_argument("--amazon", type=Path, help="archive of negative and positive reviews")
    parser.add_argument("--out", type=Path, default=Path("khalife"), help="trained vectors")
    parser.add_argument("--dims", default="100,200,300", help="dimensions of Tables 5 and 7")
    parser.add_argument("--full", action="store_true", help="the full setting")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def given(args: argparse.Namespace) -> Mapping[int, tuple[str, bool]]:
    """Return what each table needs, and whether it was given."""
    texts = bool(args.webkb or args.subjectivity or args.amazon)
    counts = args.counts is not None
    return {
        1: ("nothing", True), 2: ("nothing", True), 3: ("--counts", counts),
        4: ("--proteins and --tasks", bool(args.proteins and args.tasks)),
        5: ("--counts and --qvec", counts and args.qvec is not None),
        6: ("--counts and a data set", counts and texts), 7: ("--counts", counts),
    }  # fmt: skip


def wanted(args: argparse.Namespace) -> list[int]:
    """Return the tables to make; raises OptionError for one that lacks its data."""
    data = given(args)
    if args.tables is None:
        return [table for table, (_, ready) in data.items() if ready]
    tables = numbers(args.tables, "--tables")
    for table in tables:
        if table not in data:
            raise OptionError("--tables are numbers from 1 to 7", found=table)
        if not data[table][1]:
            raise OptionError(f"Table {table} needs {data[table][0]}", do="see --help")
    return sorted(set(tables))


def numbers(text: str, option: str) -> list[int]:
    """Return the positive numbers of a list; raises OptionError."""
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) for part in parts):
        raise OptionError(f"{option} must be numbers separated by commas", found=text)
    return [int(part) for part in parts]


def make(args: argparse.Namespace) -> None:
    """Print the tables; raises WordgeomError for invalid input."""
    tables, dims = wanted(args), sorted(set(numbers(args.dims, "--dims")))
    print(f"# Khalife et al. (2022), {'full' if args.full else 'reduced'} setting\n")
    print(heading("khalife", args.threads), flush=True)
    if noise := [table for table in tables if table in (1, 2)]:
        _noise(noise, args.full)
    if 4 in tables:
        _proteins(args)
    if words := [table for table in tables if table in (3, 5, 6, 7)]:
        _words(words, dims, args)


def _noise(tables: list[int], full: bool) -> None:
    import khalife_noise

    khalife_noise.run(tables, 10 if full else 3)


def _proteins(args: argparse.Namespace) -> None:
    import khalife_proteins

    khalife_proteins.run(args.proteins, args.tasks, 25 if args.full else 10, args.threads)


def _words(tables: list[int], dims: list[int], args: argparse.Namespace) -> None:
    import khalife_rows

    rows = khalife_rows.open_rows(args.counts, args.vectors, args.out, args.threads)
    if 3 in tables:
        import khalife_growth

        khalife_growth.run(rows, dims)
    if 5 in tables:
        import khalife_qvec

        khalife_qvec.run(rows, dims, args.qvec)
    if 6 in tables:
        import khalife_texts

        texts = khalife_texts.read(args.webkb, args.subjectivity, args.amazon)
        khalife_texts.run(rows, dims if args.full else dims[:1], texts, args.full)
    if 7 in tables:
        import khalife_times

        khalife_times.run(rows, dims)


if __name__ == "__main__":
    main()
