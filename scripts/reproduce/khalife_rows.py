"""The rows of Tables 3 to 7: random vectors, methods of wordgeom, and vectors given as files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tables_report import Timed, timed

import wordgeom as wg
from wordgeom import methods
from wordgeom.api.vectors import Model
from wordgeom.core.errors import OptionError
from wordgeom.vectors.keyed import Vectors, read_vectors
from wordgeom.vectors.run_card import card_path, read_card

RANDOM, GBU, DC, EIGS = "random", "published gbu", "published dc", "published pmi-eigs"
# Row: method and options. "Published" fits all of PMI, the defaults PPMI.
METHODS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    GBU: ("gbu", {"as_published": True}),
    DC: ("dc", {"as_published": True}),
    EIGS: ("pmi-eigs", {"weighting": "pmi"}),
    "gbu": ("gbu", {"loss": "squared"}),
    "dc": ("dc", {}),
    "pmi-eigs": ("pmi-eigs", {}),
}
PEERS = ("glove", "fasttext", "skip-gram")
_SEED = 1


@dataclass(frozen=True)
class Rows:
    """counts: a store; files: row → K → file; folder: trained vectors; missing: rows left out."""

    counts: Path
    words: list[str]
    files: Mapping[str, Mapping[int, Path]]
    folder: Path
    threads: int
    missing: tuple[str, ...]

    def names(self, K: int) -> Iterator[str]:
        """Yield the rows that have vectors of dimension K."""
        yield from (RANDOM, *available())
        yield from (name for name, files in self.files.items() if K in files)

    def vectors(self, name: str, K: int) -> Vectors:
        """Return the vectors of a row, trained where there is no file yet."""
        if name == RANDOM:
            rng = np.random.default_rng(_SEED)
            matrix = rng.standard_normal((len(self.words), K)).astype(np.float32)
            return Vectors(self.words, matrix)
        return read_vectors(self.files[name][K] if name in self.files else self._trained(name, K))

    def time(self, name: str, K: int) -> Timed | None:
        """Return the training time of a row; of a file, what its run card says, if anything."""
        if name == RANDOM:
            return None
        path = self.files[name][K] if name in self.files else self._trained(name, K)
        card = read_card(path) or {}
        if name not in self.files:
            card = json.loads(_times(path).read_text(encoding="utf-8"))
        nan = float("nan")
        found = Timed(float(card.get("cpu_seconds", nan)), float(card.get("seconds", nan)))
        return None if np.isnan([found.cpu, found.elapsed]).all() else found

    def _trained(self, name: str, K: int) -> Path:
        path = self.folder / f"{name.replace(' ', '-')}-{K}.bin"
        if not _times(path).exists():
            _, took = train(self.counts, name, K, self.threads, path)
            text = json.dumps({"cpu_seconds": took.cpu, "seconds": took.elapsed})
            _times(path).write_text(text, encoding="utf-8")
        return path


def available() -> list[str]:
    """Return the rows of METHODS whose method exists."""
    known = set(methods.names())
    return [name for name, (method, _) in METHODS.items() if method in known]


def train(
    counts: Any, name: str, K: int, threads: int, out: Path | None = None
) -> tuple[Model, Timed]:
    """Train a row of METHODS on counts, and time it."""
    method, options = METHODS[name]
    return timed(
        lambda: wg.train(
            counts, method, dim=K, threads=threads, out=out, force=out is not None, **options
        )
    )


def open_rows(counts: Path, given: Sequence[str], out: Path, threads: int) -> Rows:
    """Return the rows for counts and files given as NAME=FILE; raises OptionError."""
    files: dict[str, dict[int, Path]] = {}
    for one in given:
        name, equals, path = one.partition("=")
        if not equals or name in (RANDOM, *METHODS):
            raise OptionError("--vectors must be NAME=FILE with a new name", found=one)
        K = read_vectors(path, limit=1).matrix.shape[1]
        files.setdefault(name, {})[K] = Path(path)
    matrix = wg.open_matrix(counts)
    folder = out / matrix.digest[:12]
    folder.mkdir(parents=True, exist_ok=True)
    absent = [name for name in METHODS if name not in available()]
    absent += [name for name in PEERS if name not in files]
    if absent:
        print(f"\nLeft out, since there is no method or no --vectors file: {', '.join(absent)}.")
    rng = np.random.default_rng(_SEED)
    texts = [" ".join(f"w{k}" for k in rng.integers(0, 60, 200)) for _ in range(20)]
    small = wg.count(texts=texts, min_count=1)
    for name in available():  # imports and compiled code, which would count as training time
        train(small, name, 2, threads)
    return Rows(counts, matrix.words, files, folder, threads, tuple(absent))


def _times(path: Path) -> Path:
    return card_path(path).with_suffix(".times.json")
