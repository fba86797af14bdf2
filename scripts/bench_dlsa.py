"""Time and private memory of dynamic LSA, on dated speeches and on a random matrix of COHA's size.

    scripts/bench dlsa [SPEECHES] [--sweeps 10] [--dim 100] [--degree 1]

SPEECHES is a .tsv or .tsv.gz file of year, session, country and speech; words with at least 100
occurrences are counted. The random matrix has as many documents, words and entries as Carrington's
(2021, §5.5.3), with Zipfian word frequencies and 200 years. Times and memory (RssAnon + RssShmem)
are those of the whole command, which reads and weights the counts, runs static LSA and sweeps, and
writes the model. The seconds in sweeps are the difference to `--sweeps 0`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from bench_common import machine, seconds, wordgeom

from wordgeom.core.types import Csr, Float64
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.matrices.cooccurrence import DTM, MatrixWriter
from wordgeom.storage.store import StoreWriter

DOCUMENTS, WORDS, ENTRIES = 116_597, 49_564, 90_000_000
FIRST, YEARS = 1810, 200
FIELDS = ["--text-field", "4", "--time-field", "1", "--min-count", "100", "--quiet"]
BLOCK = 4096


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "speeches", nargs="?", help="a file as above; omit it to run the random matrix only"
    )
    parser.add_argument("--sweeps", default="10")
    parser.add_argument("--dim", default="100")
    parser.add_argument("--degree", default="1")
    parser.add_argument("--share", type=float, default=1.0, help="fraction of COHA's documents")
    args = parser.parse_args()
    print(f"{machine()}\n")
    print(
        "| documents × words | entries | s, total | s in sweeps | GB | captured, static | dynamic |"
    )
    print("|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if args.speeches:
            wordgeom(["build-dtm", args.speeches, *FIELDS, "-o", str(folder / "dtm")])
            measure(folder, args)
        random_matrix(folder, args.share)
        measure(folder, args)


def random_matrix(folder: Path, share: float) -> None:
    """Write a matrix of COHA's size, or with a fraction of its documents."""
    import scipy.sparse

    n = int(DOCUMENTS * share)
    rng = np.random.default_rng(0)
    chances = probabilities(ENTRIES / DOCUMENTS)
    columns = [documents_with(rng, n, c) for c in chances]
    ends = np.cumsum([0, *map(len, columns)])
    indices = np.concatenate(columns)
    del columns
    values = np.minimum(rng.geometric(0.4, len(indices)), 1000).astype(np.uint32)
    shape = (n, len(chances))
    rows = scipy.sparse.csc_array((values, indices, ends), shape=shape).tocsr()
    del indices, values
    store(folder / "dtm", Csr(rows.indptr, rows.indices, rows.data, shape[1]), rng)


def probabilities(mean: float) -> Float64:
    """Return the probability of each word in a document, for `mean` words per document."""
    zipf = 1.0 / (np.arange(WORDS) + 30.0)
    low, high = 1.0, 1e6
    for _ in range(60):
        middle = (low * high) ** 0.5
        enough = np.minimum(0.95, middle * zipf).sum() > mean
        low, high = (low, middle) if enough else (middle, high)
    return np.asarray(np.minimum(0.95, high * zipf))


def documents_with(rng: np.random.Generator, n: int, probability: float) -> np.ndarray:
    """Return which of n documents contain a word of this probability, ascending."""
    mean = n * probability
    gaps = rng.geometric(probability, int(mean + 6 * mean**0.5 + 10))
    places = np.cumsum(gaps) - 1
    return places[places < n].astype(np.int32)


def store(path: Path, rows: Csr, rng: np.random.Generator) -> None:
    """Write a document-term matrix with a year per document."""
    counts = np.bincount(rows.indices, weights=rows.data, minlength=rows.columns).astype(np.int64)
    words = Vocabulary([f"w{k}" for k in range(rows.columns)], counts)
    years = np.sort(rng.integers(FIRST, FIRST + YEARS, rows.rows)).tolist()
    if path.exists():
        shutil.rmtree(path)
    with StoreWriter(path, DTM) as writer:
        matrix = MatrixWriter(writer, words, np.uint32, rows=rows.rows)
        for block in blocks(rows):
            matrix.write(np.diff(block.indptr), block.indices, block.data)
        lines = [f"1\t{k}\t\t{year}\n" for k, year in enumerate(years, 1)]
        writer.text("documents", "".join(lines).encode())
        writer.array("columnsums", np.int64).write(counts)
        frequency = np.bincount(rows.indices, minlength=rows.columns)
        writer.array("holders", np.int64).write(frequency)
        names = [{"name": "drawn", "digest": "drawn"}]
        request = {"command": "build-dtm", "options": {}, "inputs": names}
        totals = {"tokens": 0, "kept": 0, "documents": rows.rows, "empty": 0}
        writer.commit(matrix.finish(totals), {"request": request})


def blocks(rows: Csr) -> Iterator[Csr]:
    """Yield a matrix in blocks of rows."""
    for start in range(0, rows.rows, BLOCK):
        yield rows.block(start, min(start + BLOCK, rows.rows))


def measure(folder: Path, args: argparse.Namespace) -> None:
    """Print a row of the table."""
    model, peaks = str(folder / "model"), [0.0]
    fit = ["train", str(folder / "dtm"), "--method", "dlsa", "-o", model, "--force"]
    fit += ["--dim", args.dim, "--degree", args.degree, "--sweeps"]
    before = seconds(lambda: wordgeom([*fit, "0"]))
    took = seconds(lambda: peaks.append(wordgeom([*fit, args.sweeps], watch=True)))
    meta = json.loads((folder / "model/meta.json").read_bytes())
    statistics, (n, _, p) = meta["run"]["statistics"], meta["attributes"]["shape"]
    entries = json.loads((folder / "dtm/meta.json").read_bytes())["attributes"]["stored"]
    cells = [f"{n:,} × {p:,}", f"{entries:,}", f"{took:.1f}", f"{took - before:.1f}"]
    cells += [f"{peaks[-1]:.2f}", f"{statistics['captured_static']:.4f}"]
    print("| " + " | ".join([*cells, f"{statistics['captured']:.4f}"]) + " |", flush=True)
    print("  J by sweep:", ", ".join(f"{j:.6g}" for j in statistics["objective"][1::2]), flush=True)


if __name__ == "__main__":
    main()
