"""Named settings: older methods as problems of minimum-distortion embedding (§3.2, §4).

`SETTINGS` gives what a recipe sets. Those of `SPECTRAL` have a dense quadratic problem, which
classical.py solves by eigenvectors; `SPECTRAL` lists the options that they leave open.
"""

from __future__ import annotations

from typing import Any

_DESCENDED: dict[str, dict[str, Any]] = {
    "mds": {"graph": "distances", "metric": "euclidean", "loss": "quadratic"},
    "sammon": {"graph": "distances", "metric": "euclidean", "loss": "weighted", "exponent": 1.0},
    "kamada-kawai": {"graph": "paths", "loss": "weighted", "exponent": 2.0},
    "laplacian-eigenmaps": {
        "attraction": "power", "exponent": 2.0, "dissimilar": 0.0, "nearby": 0,
        "constraint": "standardized",
    },
    # log(1 + a d^2b) with UMAP's a and b at its default, min_dist .1, but for the scale of d.
    "umap": {
        "attraction": "log1p", "exponent": 1.79, "repulsion": "logratio",
        "repulsion_exponent": 1.79, "dissimilar": 5.0, "nearby": 0,
    },
    "largevis": {
        "attraction": "log1p", "exponent": 2.0, "repulsion": "logratio",
        "repulsion_exponent": 2.0, "dissimilar": 5.0, "nearby": 0,
    },
}  # fmt: skip
PCA, CLASSICAL_MDS, ISOMAP, LLE = "pca", "classical-mds", "isomap", "lle"
SPECTRAL: dict[str, tuple[str, ...]] = {
    PCA: ("dim",), CLASSICAL_MDS: ("dim", "metric"), ISOMAP: ("dim", "metric", "neighbours"),
    LLE: ("dim", "metric", "neighbours"),
}  # fmt: skip
SETTINGS = _DESCENDED | {name: {"constraint": "standardized"} for name in SPECTRAL}
OF_PAIRS = (CLASSICAL_MDS, ISOMAP)  # the spectral ones that take --pairs of deviations
