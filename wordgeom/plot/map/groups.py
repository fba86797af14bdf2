"""Colours of a map that no file gives: clusters of the vectors, and imputed entities.

Clusters are those of k-means with three starts on unit vectors, or on positions where only these
are known. A cluster is named by the three words nearest to its centre among the first quarter of
its words in the file: at least the first 20, at most the first 200.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.evaluation.estimators import deterministic_estimators
from wordgeom.imputation.trust import SOURCES
from wordgeom.imputation.trust_table import read_trust
from wordgeom.plot.colours import LONGEST, Colouring
from wordgeom.vectors.run_card import file_content, read_card

_STARTS = 3  # of k-means; the best one is used
_NAMES = 3  # words of a name
_SHARE, _LEAST, _MOST = 4, 20, 200  # candidates of a name: a quarter of the cluster, within limits


@dataclass(frozen=True, eq=False)
class Groups(Colouring):
    """Categories of words as they are spelt."""

    def value(self, word: str) -> str | float | None:
        """Return the category of a word, None if it has none."""
        return self.values.get(word)


def clusters(words: list[str], points: Float64, count: int, name: str) -> Groups:
    """Return up to `count` clusters of words by their points (n × d), the largest first."""
    from sklearn.cluster import KMeans

    distinct = len(np.unique(points, axis=0))
    model = KMeans(min(count, distinct), n_init=_STARTS, random_state=0)
    with deterministic_estimators():
        labels = model.fit_predict(points)
    members = [np.flatnonzero(labels == k) for k in np.unique(labels)]
    members.sort(key=lambda rows: (-len(rows), int(rows[0])))
    values: dict[str, str] = {}
    names: list[str] = []
    for rows in members:
        frequent = rows[: min(max(_LEAST, len(rows) // _SHARE), _MOST)]
        away = np.linalg.norm(points[frequent] - points[rows].mean(axis=0), axis=1)
        nearest = frequent[np.argsort(away, kind="stable")[:_NAMES]]
        names.append(_name([words[row] for row in nearest.tolist()]))
        values |= {words[row]: names[-1] for row in rows.tolist()}
    return Groups(f"{len(names)} clusters of {name}", values, tuple(names))


def _name(words: list[str]) -> str:
    """Return words as a name, as many as a legend has room for."""
    while len(", ".join(words)) > LONGEST and len(words) > 1:
        words = words[:-1]
    return ", ".join(words)


def imputed_groups(path: Path) -> tuple[Groups | None, str]:
    """Return which entities of a file made by `impute` were known, and a note; None for others.

    The categories are the sources in the trust table that was written with the vectors.
    """
    card = read_card(path) or {}
    beside = card.get("beside") or {}
    if card.get("request", {}).get("command") != "impute" or len(beside) != 1:
        return None, ""
    # A forged card could name any file: only one in the same directory is read.
    ((name, content),) = beside.items()
    table = path.with_name(Path(name).name or path.name)
    if table.name != name or not table.is_file() or file_content(table) != content:
        what = f"the trust table {name} has changed or is not beside {path.name}"
        return None, f"{what}: known and imputed entities look alike"
    trust = read_trust(table)
    kinds = [SOURCES[kind] for kind in trust.source.tolist()]
    present = tuple(kind for kind in SOURCES if kind in kinds)
    return Groups(table.name, dict(zip(trust.names, kinds, strict=True)), present), ""
