"""build-dtm compared with scikit-learn, and the drift test: time, memory, ranks, false positives.

    scripts/bench drift SPEECHES.tsv.gz [--words soviet climate …] [--shuffles 5] [--rounds 3]

SPEECHES is a .tsv or .tsv.gz file of year, session, country and speech. Counts of whitespace tokens
are compared with CountVectorizer's, entry by entry. Words with at least 100 occurrences are then
fitted and tested with the commands' defaults, B = 999, as whole processes with their
peak private memory. The test is repeated with whole years shuffled, where every flagged word is a
false positive.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from bench_common import machine, paired, row, seconds, wordgeom

from wordgeom.matrices.document_term import StoredDocuments

FIELDS = ["--text-field", "4", "--id-field", "3", "--time-field", "1"]
WORDS = ("soviet", "apartheid", "covid", "climate", "terrorism", "internet")
LEVEL = 0.05


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("speeches", help="a file as above")
    parser.add_argument("--words", nargs="*", default=WORDS, help="words whose ranks are printed")
    parser.add_argument("--shuffles", type=int, default=5, help="number of shuffles of whole years")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    print(f"{machine()}; {time.strftime('%F')}\n")
    with tempfile.TemporaryDirectory() as name:
        counting(args, Path(name))
        tested(args, Path(name))
        shuffled(args, Path(name))


def counting(args: argparse.Namespace, folder: Path) -> None:
    """Time build-dtm and CountVectorizer on the same text, and compare their counts."""
    print("| what | median (min–max) s | baseline | median s | ratio | notes |")
    print("|---|---|---|---|---|---|", flush=True)
    texts, dtm, made = folder / "texts.txt", folder / "counts", folder / "counts.npz"
    texts.write_text("\n".join(cells[3] for cells in records(args.speeches)) + "\n")
    ours = ["build-dtm", str(texts), "-o", str(dtm), "--tokeniser", "whitespace",
            "--min-count", "1", "--force", "--quiet"]  # fmt: skip
    theirs = [sys.executable, "-c", VECTORIZER, str(texts), str(made)]
    times, others = paired(
        lambda: wordgeom(ours), lambda: subprocess.run(theirs, check=True), args.rounds
    )
    row("build-dtm", times, "CountVectorizer (str.split)", others, agreement(dtm, made))


VECTORIZER = """
import sys, numpy as np
from sklearn.feature_extraction.text import CountVectorizer
with open(sys.argv[1], encoding="utf-8") as lines:
    texts = [line for line in lines]
counter = CountVectorizer(tokenizer=str.split, token_pattern=None, lowercase=False)
X = counter.fit_transform(texts)
words = counter.get_feature_names_out().astype(str)
np.savez(sys.argv[2], data=X.data, indices=X.indices, indptr=X.indptr, words=words)
"""


def agreement(dtm: Path, made: Path) -> str:
    """Return the number of entries that differ."""
    import scipy.sparse

    ours = StoredDocuments.open(dtm)
    with np.load(made) as found:
        shape = (len(found["indptr"]) - 1, len(found["words"]))
        parts = (found["data"], found["indices"], found["indptr"])
        theirs = scipy.sparse.csr_array(parts, shape=shape)
        places = {word: k for k, word in enumerate(found["words"].tolist())}
    order = [places[word] for word in ours.vocabulary.words]
    differ = (ours.to_scipy().astype(np.int64) - theirs[:, order].astype(np.int64)).count_nonzero()
    return f"{shape[0]:,} × {shape[1]:,}, {ours.stored:,} entries; {differ:,} differ"


def tested(args: argparse.Namespace, folder: Path) -> None:
    """Print time, memory and results of a fit and a test with default options."""
    dtm, model = str(folder / "dtm"), str(folder / "model")
    count = ["build-dtm", args.speeches, *FIELDS, "--min-count", "100", "-o", dtm, "--quiet"]
    print(f"\nbuild-dtm: {seconds(lambda: wordgeom(count)):.1f} s", flush=True)
    fit = ["train", dtm, "--method", "dlsa", "-o", model, "--quiet"]
    print(f"train --method dlsa: {watched(fit)}", flush=True)
    print(f"drift: {watched(['drift', model, '--quiet'])}\n", flush=True)
    found = drift(model)
    ranks = {word["word"]: word for word in found["words"]}
    print("| word | rank | F | p | q | documents |")
    print("|---|---|---|---|---|---|")
    for word in args.words:
        entry = ranks[word]
        figures = " | ".join(f"{entry[name]:.2g}" for name in ("f", "p", "q"))
        print(f"| {word} | {entry['rank']:,} | {figures} | {entry['documents']:,} |")
    test = found["test"]
    flagged = f"{test['significant']:,} of {len(ranks):,} words"
    print(f"\nq ≤ {LEVEL}: {flagged}; global p {test['global_p']:.2g}", flush=True)


def shuffled(args: argparse.Namespace, folder: Path) -> None:
    """Print the results with whole years shuffled."""
    print("\n| shuffle of years | share with p ≤ .05 | words with q ≤ .05 | global p |")
    print("|---|---|---|---|", flush=True)
    text, dtm, model = (str(folder / name) for name in ("shuffled.tsv", "null", "null-model"))
    lines = list(records(args.speeches))
    years = sorted({cells[0] for cells in lines})
    for seed in range(args.shuffles):
        mixed = np.random.default_rng(seed).permutation(years).tolist()
        other = dict(zip(years, mixed, strict=True))
        Path(text).write_text("".join("\t".join((other[c[0]], *c[1:])) + "\n" for c in lines))
        end = ["--force", "--quiet"]
        wordgeom(["build-dtm", text, *FIELDS, "--min-count", "100", "-o", dtm, *end])
        wordgeom(["train", dtm, "--method", "dlsa", "--sweeps", "0", "-o", model, *end])
        found = drift(model, "--neighbours", "0")
        p = np.array([word["p"] for word in found["words"] if word["p"] is not None])
        test = found["test"]
        print(f"| {seed} | {np.mean(p <= LEVEL):.3f} | {test['significant']:,} | "
              f"{test['global_p']:.2g} |", flush=True)  # fmt: skip


def drift(model: str, *more: str) -> dict[str, Any]:
    """Return the results of `drift --json`."""
    command = [sys.executable, "-m", "wordgeom", "drift", model, *more, "--json", "--quiet"]
    printed = subprocess.run(command, check=True, capture_output=True).stdout
    results: dict[str, Any] = json.loads(printed)
    return results


def watched(command: list[str]) -> str:
    """Return the time and the peak private memory of a command."""
    start = time.perf_counter()
    peak = wordgeom(command, watch=True)
    return f"{time.perf_counter() - start:.1f} s, peak RssAnon + RssShmem {peak:.2f} GB"


def records(path: str) -> Iterator[list[str]]:
    """Yield the fields of each line."""
    raw = Path(path).read_bytes()
    text = (gzip.decompress(raw) if path.endswith(".gz") else raw).decode("utf-8")
    for line in text.split("\n")[:-1]:
        yield line.split("\t")


if __name__ == "__main__":
    main()
