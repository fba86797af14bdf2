"""Time and private memory of dynamic LSA: on speeches with years, and on a matrix of COHA's size.

    scripts/bench dlsa [SPEECHES] [--sweeps 10] [--dim 100] [--degree 1]

SPEECHES: a .tsv, also in .gz, of year, session, country and speech, counted first (words with
100 and more occurrences). The other matrix is drawn: as many documents, words and entries as
carrington's (2021, §5.5.3), words by Zipf's law, 200 years. Whole processes are watched, RssAnon +
RssShmem; the command reads the counts, weighs them, begins with static LSA and writes the model.
The seconds of sweeps are those beyond `--sweeps 0`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benching import machine, seconds, wordgeom

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
    parser.add_argument("speeches", nargs="?", help="a file as above; without it, the drawn one")
    parser.add_argument("--sweeps", default="10")
    parser.add_argument("--dim", default="100")
    parser.add_argument("--degree", default="1")
    parser.add_argument("--share", type=float, default=1.0, help="of COHA's documents")
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
        drawn(folder, args.share)
        measure(folder, args)


def drawn(folder: Path, share: float) -> None:
    """Write a matrix of COHA's size, or a share of its documents."""
    import scipy.sparse

    n = int(DOCUMENTS * share)
    rng = np.random.default_rng(0)
    chances = chance(ENTRIES / DOCUMENTS)
    holders = [held(rng, n, c) for c in chances]
    ends = np.cumsum([0, *map(len, holders)])
    indices = np.concatenate(holders)
    del holders
    values = np.minimum(rng.geometric(0.4, len(indices)), 1000).astype(np.uint32)
    shape = (n, len(chances))
    rows = scipy.sparse.csc_array((values, indices, ends), shape=shape).tocsr()
    del indices, values
    store(folder / "dtm", Csr(rows.indptr, rows.indices, rows.data, shape[1]), rng)


def chance(mean: float) -> Float64:
    """Return how likely each word is in a document, so that one holds `mean` words."""
    zipf = 1.0 / (np.arange(WORDS) + 30.0)
    low, high = 1.0, 1e6
    for _ in range(60):
        middle = (low * high) ** 0.5
        enough = np.minimum(0.95, middle * zipf).sum() > mean
        low, high = (low, middle) if enough else (middle, high)
    return np.asarray(np.minimum(0.95, high * zipf))


def held(rng: np.random.Generator, n: int, likely: float) -> np.ndarray:
    """Return which of n documents hold a word, ascending."""
    gaps = rng.geometric(likely, int(n * likely + 6 * (n * likely) ** 0.5 + 10))
    places = np.cumsum(gaps) - 1
    return places[places < n].astype(np.int32)


def store(path: Path, rows: Csr, rng: np.random.Generator) -> None:
    """Write counts by document, each with a year."""
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
        holders = np.bincount(rows.indices, minlength=rows.columns)
        writer.array("holders", np.int64).write(holders)
        names = [{"name": "drawn", "digest": "drawn"}]
        request = {"command": "build-dtm", "options": {}, "inputs": names}
        told = {"tokens": 0, "kept": 0, "documents": rows.rows, "empty": 0}
        writer.commit(matrix.finish(told), {"request": request})


def blocks(rows: Csr) -> Iterator[Csr]:
    """Yield a matrix by blocks of rows."""
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
