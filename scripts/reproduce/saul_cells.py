"""Vectors of thresholded similarity matching and their scores, stored as they are made."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import wordgeom as wg
from wordgeom.storage.files import atomic_file
from wordgeom.vectors.keyed import digest_of, read_vectors

MATCHED, PROJECTED = "TSM", "SVD"
SPARSITY = 0.99  # share of the pairs that are not similar
K = 15  # neighbours of the recall
# Measures of `eval --reference`, and the names that tables give them.
_MEASURES = {
    "angle error of near pairs": "Δ", "Jaccard of near pairs": "J", "norm error": "lengths",
    f"recall at {K}": "recall",
}  # fmt: skip
Row = Mapping[str, float]


@dataclass(frozen=True)
class Cell:
    """One result. path: the vectors; facts: of their run card; rows: measures of TSM and SVD."""

    path: Path
    facts: Mapping[str, Any]
    rows: Mapping[str, Row]

    @property
    def matched(self) -> Row:
        """The measures of TSM."""
        return self.rows[MATCHED]

    @property
    def projected(self) -> Row:
        """The measures of SVD."""
        return self.rows[PROJECTED]


@dataclass(frozen=True)
class Cells:
    """Where results are stored, and the threads that make them."""

    folder: Path
    threads: int

    def cell(self, data: Path, d: int, kind: str = "", **options: Any) -> Cell:
        """Return the result of some options at d dimensions; kind: a name for the options."""
        path = self.folder / f"{data.stem}-{d}{kind and f'-{kind}'}.bin"
        model = wg.train(
            data, "tsm", dim=d, sparsity=SPARSITY, out=path, threads=self.threads, resume=True,
            **options,
        )  # fmt: skip
        tau = model.statistics["tau"]
        key = {"vectors": digest_of(read_vectors(path)), "tau": tau}
        rows = stored(path.with_suffix(".scores.json"), key, lambda: self._scores(path, data, tau))
        return Cell(path, model.statistics, rows)

    def _scores(self, path: Path, data: Path, tau: float) -> dict[str, dict[str, float]]:
        report = wg.score(
            path, reference=[data], baselines="svd", tau=tau, metric="cosine", neighbours=K,
            resamples=0, threads=self.threads,
        )  # fmt: skip
        rows: dict[str, dict[str, float]] = {MATCHED: {}, PROJECTED: {}}
        for score in report.scores:
            name = PROJECTED if score.name.endswith(": svd") else MATCHED
            if score.measure in _MEASURES:
                rows[name][_MEASURES[score.measure]] = score.value
        return rows


def stored(path: Path, key: Mapping[str, Any], make: Callable[[], Any]) -> Any:
    """Return the JSON value in a file if it was made by the same key, else make and store it."""
    if path.exists():
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["key"] == key:
            return content["value"]
    value = make()
    with atomic_file(path) as out:
        out.write(json.dumps({"key": key, "value": value}).encode())
    return value
