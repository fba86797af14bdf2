"""Measure the processor time of each stage per unit of work, for docs/scaling.md.

    python scripts/scaling_rates.py CORPUS DATED RATES

CORPUS is a text on one line or many, DATED a .tsv file with a year first and a text last. Commands
run with one thread, and their processor time is taken, which other programs disturb less than the
elapsed time. The rates, with the machine and the date, are written to RATES as JSON, which
scripts/scaling_table.py reads.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path

import numpy as np
from bench_common import machine

from wordgeom.storage.store import Store
from wordgeom.vectors.keyed import write_vectors
from wordgeom.vectors.run_card import read_card

_SHARDS = 64
_DIMS = (10, 100)  # the second one is that of the rates
_HEAD = 30_000_000  # bytes of the corpus that methods are trained on
_ENTITIES, _NUMBERS = (2_000, 6_000), 50  # of a random domain
_CHANGED, _TOPICS = (1_000, 3_000), 50  # words and topics of drift
_SWEEPS = (2, 6)  # of dlsa


def used(*arguments: str) -> float:
    """Run a command with one thread; return the seconds of processor time that it took."""
    line = [sys.executable, "-m", "wordgeom", *arguments, "--threads", "1", "--quiet"]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, env={**os.environ, **_SINGLE})
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(line)}: status {status}")
    print(f"{arguments[0]}: {usage.ru_utime + usage.ru_stime:.2f} s", file=sys.stderr, flush=True)
    return usage.ru_utime + usage.ru_stime


_SINGLE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def counting(corpus: str) -> dict[str, float]:
    """Return the seconds of a token read and counted, and of an entry merged and weighted."""
    whole, part = counted(corpus, ""), counted(corpus, f"1/{_SHARDS}")
    start = counted("small.txt", "")
    tokens = Store.open("corpus").attributes["tokens"]
    count = (whole - part) / (tokens * (1 - 1 / _SHARDS))
    for k in ("1/2", "2/2"):
        counted(corpus, k)
        counted("small.txt", k)
    merged, weighted = ([work(*matrices) for matrices in (_halves("corpus"), _halves("small"))]
                        for work in (merging, weighting))  # fmt: skip
    read = sum(Store.open(path).attributes["stored"] for path in _halves("corpus"))
    entries = Store.open("corpus").attributes["stored"]
    return {"read": (whole - start) / tokens - count, "count": count,
            "merge": (merged[0] - merged[1]) / read,
            "weight": (weighted[0] - weighted[1]) / entries}  # fmt: skip


def counted(text: str, shard: str) -> float:
    """Count a text or a shard of it, into a store of its name."""
    more = ["--shard", shard] if shard else []
    more += ["--window", "5", "--min-count", "5", "--force"]
    return used("build-cooc", text, "-o", Path(text).stem, *more)


def _halves(name: str) -> list[str]:
    return [f"{name}.shard-{k}-of-2" for k in (1, 2)]


def merging(one: str, other: str) -> float:
    """Add up two shards."""
    return used("merge", one, other, "-o", "sum", "--force")


def weighting(one: str, other: str) -> float:
    """Weight the counts that two shards are of."""
    return used("build-pmi", one.partition(".")[0], "-o", f"{one}.pmi", "--force")


def training(head: str) -> dict[str, float]:
    """Return the seconds of an entry in a product and in a half sweep of gbu."""
    counted(head, "")
    used("build-pmi", "head", "-o", "pmi")
    both = 2 * Store.open("pmi").attributes["stored"]
    eigs, products = [], []
    for dim in _DIMS:
        out = f"e{dim}.bin"
        eigs.append(used("train", "pmi", "--method", "pmi-eigs", "--dim", str(dim), "-o", out))
        card = read_card(Path(out))
        assert card is not None
        products.append(card["statistics"]["products"])
    sweeps = [used("train", "head", "--method", "gbu", "--loss", "squared", "--dim", str(_DIMS[1]),
                   "--sweeps", str(n), "-o", f"g{n}.bin") for n in (1, 3)]  # fmt: skip
    entries = 2 * Store.open("head").attributes["stored"]
    product = (eigs[1] - eigs[0]) / ((products[1] - products[0]) * both)
    half_sweep = (sweeps[1] - sweeps[0]) / (4 * entries)
    solved = [used("train", name, "--method", "dc", "--dim", str(_DIMS[1]), "-o", f"{name}.dc.bin")
              for name in ("head", "corpus")]  # fmt: skip
    more = 2 * Store.open("corpus").attributes["stored"] - entries
    return {"product": product, "products": products[1], "half_sweep": half_sweep,
            "solved": (solved[1] - solved[0]) / more}  # fmt: skip


def documents(dated: str) -> dict[str, float]:
    """Return the seconds of an entry in lsa and in a half sweep of dlsa, and of a word in drift."""
    few, more = (testing(dated, words) for words in _CHANGED)
    found = {"changed": (more - few) / (_CHANGED[1] - _CHANGED[0])}
    dated_counts(dated, 5_000, "dtm")
    entries = Store.open("dtm").attributes["stored"]
    took, products = [], []
    for dim in _DIMS:
        took.append(used("train", "dtm", "--method", "lsa", "--dim", str(dim), "-o", f"l{dim}.bin"))
        card = read_card(Path(f"l{dim}.bin"))
        assert card is not None
        products.append(card["statistics"]["products"])
    found["svd"] = (took[1] - took[0]) / ((products[1] - products[0]) * entries)
    fitted = [used("train", "dtm", "--method", "dlsa", "--dim", str(_DIMS[1]), "--sweeps", str(n),
                   "-o", f"model-{n}") for n in _SWEEPS]  # fmt: skip
    half_sweeps = 2 * (_SWEEPS[1] - _SWEEPS[0])
    found["dated"] = (fitted[1] - fitted[0]) / (half_sweeps * entries)
    return found | {"svd_products": products[1]}


def dated_counts(dated: str, words: int, out: str) -> None:
    """Count the most frequent words of dated documents."""
    used("build-dtm", dated, "-o", out, "--time-field", "1", "--text-field", "2",
         "--header", "no", "--max-vocab", str(words))  # fmt: skip


def testing(dated: str, words: int) -> float:
    """Test words for change."""
    counts, model = f"dtm-{words}", f"model-{words}"
    dated_counts(dated, words, counts)
    used("train", counts, "--method", "dlsa", "--dim", str(_TOPICS), "--sweeps", "2", "-o", model)
    return used("drift", model)


def imputing() -> dict[str, float]:
    """Return the seconds of a pair of entities in impute, of 50 numbers each."""
    draw = np.random.default_rng(1)
    took = []
    for n in _ENTITIES:
        names = [f"e{k}" for k in range(n)]
        domain = draw.standard_normal((n, _NUMBERS)).astype(np.float32)
        known = draw.standard_normal((n // 2, _DIMS[1])).astype(np.float32)
        write_vectors("domain.bin", names, domain)
        write_vectors("known.bin", names[: n // 2], known)
        out = f"imputed-{n}.bin"
        took.append(used("impute", "--domain", "domain.bin", "--vectors", "known.bin", "-o", out))
    pairs = [n * n for n in _ENTITIES]
    return {"pair": (took[1] - took[0]) / (pairs[1] - pairs[0])}


def main(corpus: str, dated: str, rates: str) -> None:
    """Write the rates."""
    text, years, target = (Path(one).absolute() for one in (corpus, dated, rates))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("corpus.txt").symlink_to(text)
        Path("small.txt").write_text("one two three four five\n" * 2000, encoding="utf-8")
        with text.open("rb") as whole:
            Path("head.txt").write_bytes(whole.read(_HEAD).rpartition(b" ")[0])
        found = counting("corpus.txt") | training("head.txt")
        found |= documents(str(years))
        found |= imputing()
    made = {"machine": machine(), "date": date.today().isoformat(), "seconds": found}
    target.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
