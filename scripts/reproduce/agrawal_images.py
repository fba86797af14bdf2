"""Chapter 8: MNIST's digits, embedded by the neighbourhoods of their pixels."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from mde_problems import HUBER, LOG1P, QUADRATIC, STANDARDIZED, Case, Rivals, Run, distortion, ours
from mnist_images import Images
from tables_report import Claim, conclude, judge, show

import wordgeom as wg
from wordgeom.core.types import Array, Float64
from wordgeom.linalg.nearest_neighbours import nearest
from wordgeom.methods.mde import quadratic, validation
from wordgeom.methods.mde.graphs.neighbours import EUCLIDEAN, neighbours, points_of
from wordgeom.methods.mde.graphs.sampling import dissimilar
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.methods.mde.problem import Problem
from wordgeom.plot.figure import saved_figure
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import write_vectors

K, MOST = 15, 300
QUADRATIC_2, QUADRATIC_3 = "quadratic, m = 2", "quadratic, m = 3"
REPELLED, CENTRED, HUBER_ROW, UMAP = (
    "standardised, log1p",
    "centred, log1p",
    "centred, Huber",
    "UMAP",
)
_OUTLIERS, _CLOSE = 10.0, 0.03


def run(images: Images, rivals: Rivals, folder: Path, context: Context) -> None:
    """Print the tables of chapter 8, and draw its embeddings."""
    n = len(images.digits)
    graph = neighbours(points_of(images.pixels, EUCLIDEAN), K, context.pool).pairs
    parts = components(graph, n)
    print(f"\n## Chapter 8: {n:,} digits of MNIST\n\n{len(graph):,} pairs of {K} neighbours; "
          f"components of the graph: {parts}")  # fmt: skip
    cases = _cases(graph, n, context)
    rows, found, classes = [], {}, {}
    for name, case in cases.items():
        both = [("wordgeom", ours(case, context, MOST, enough=1e-5))]
        theirs = rivals.pymde(case, MOST, 1e-5)
        both += [] if theirs is None else [("PyMDE", theirs)]
        found[name] = both[0][1]
        for program, one in both:
            told = knn(one.vectors, images.digits, context)
            value = distortion(case, one.vectors, context.pool)
            rows.append([name, program, f"{one.seconds:.1f}", f"{one.steps}",
                         f"{value:.5f}", f"{told:.3f}", recall(one.vectors, images)])  # fmt: skip
            if program == "wordgeom":
                classes[name] = told
    for name, program in ((UMAP, "umap"), ("t-SNE", "tsne")):
        made = rivals.run(program, {"points": images.pixels, "metric": "euclidean"})
        if made is not None:
            found[name], classes[name] = made, knn(made.vectors, images.digits, context)
            rows.append([name, made.version, f"{made.seconds:.1f}", "", "", f"{classes[name]:.3f}",
                         recall(made.vectors, images)])  # fmt: skip
    head = [
        "embedding",
        "program",
        "s",
        "steps",
        "E",
        f"digits told by {K} neighbours",
        f"recall at {K}",
    ]
    show("### Embeddings", head, rows)
    outliers = _outliers(cases[QUADRATIC_2], found[QUADRATIC_2].vectors, images, context)
    conclude([judge("Chapter 8, connected", [(f"{parts} components", parts == 1)]), outliers,
              *criteria(classes)])  # fmt: skip
    draw(found, images.digits, folder / "chapter-8.png")


def _cases(graph: Pairs, n: int, context: Context) -> Mapping[str, Case]:
    """Return the problems of §8.3; those with repulsion start from the quadratic solution."""
    other = dissimilar(graph, n, len(graph), np.random.default_rng(1))
    start = {m: quadratic.standardized(graph, n, m, context.pool, 1) for m in (2, 3)}
    rng = np.random.default_rng(1)
    plain = Case(graph, start[2], attractive=QUADRATIC, constraint=STANDARDIZED)
    pulled = Case(graph, start[2], other)
    drawn = {m: plain.bound(context).onto(rng.standard_normal((n, m), np.float32)) for m in (2, 3)}
    return {
        QUADRATIC_2: replace(plain, start=drawn[2]),
        QUADRATIC_3: replace(plain, start=drawn[3]),
        REPELLED: replace(pulled, constraint=STANDARDIZED, attractive=LOG1P),
        CENTRED: pulled,
        HUBER_ROW: replace(pulled, attractive=HUBER),
    }


def components(graph: Pairs, n: int) -> int:
    """Return the number of components of a graph of n items."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    found = connected_components(coo_array((graph.given, (graph.left, graph.right)), (n, n)), False)
    return int(found[0])


def knn(vectors: Array, digits: Array, context: Context) -> float:
    """Return the share of items whose digit is the most common one of their 15 neighbours."""
    points: Float64 = vectors.astype(np.float64)
    found = digits[nearest(points, K, context.pool).indices]
    votes = (found[:, :, None] == np.arange(10)).sum(axis=1)
    return float(np.mean(votes.argmax(axis=1) == digits))


def recall(vectors: Array, images: Images) -> str:
    """Return the recall of 15 neighbours by Euclidean distance, from `eval --reference`."""
    names = [f"image{k}" for k in range(len(vectors))]
    with tempfile.TemporaryDirectory() as folder:
        out, reference = Path(folder, "map.bin"), Path(folder, "pixels.bin")
        write_vectors(out, names, np.ascontiguousarray(vectors, np.float32))
        write_vectors(reference, names, images.pixels)
        report = wg.score(out, reference=[reference], reference_metric="euclidean", resamples=0)
    return f"{report.scores[0].value:.3f}"


def _outliers(case: Case, vectors: Array, images: Images, context: Context) -> Claim:
    """Print the pairs with the largest distortion of the quadratic embedding."""
    problem = Problem(len(vectors), case.terms, context.pool)
    term = validation.Judged("pairs", case.similar, problem.distances(vectors)[0],
                             problem.distortions(vectors)[0])  # fmt: skip
    names = [f"{digit} ({k})" for k, digit in enumerate(images.digits.tolist())]
    facts = validation.distortions([term], names)["pairs"]
    rows = [[*one["words"], f"{one['distortion']:.2f}"] for one in facts["worst"][:5]]
    show("### Pairs with the largest distortion: digits (and numbers of images)",
         ["one", "other", "distortion"], rows)  # fmt: skip
    at = facts["quantiles"]
    print("\nQuantiles of the distortion: "
          + ", ".join(f"{name} {value:.3g}" for name, value in at.items()))  # fmt: skip
    why = f"largest {at['max']:.3g}, 95 % quantile {at['95%']:.3g}"
    return judge("Chapter 8, outliers", [(why, at["max"] >= _OUTLIERS * at["95%"])])


def criteria(told: Mapping[str, float]) -> list[Claim]:
    """Return the criteria on how often neighbours tell the digit."""
    two, three, repelled = (told[name] for name in (QUADRATIC_2, QUADRATIC_3, REPELLED))
    more = [(f"three dimensions {three:.3f}, two {two:.3f}", three > two),
            (f"with repulsion {repelled:.3f}", repelled > two)]  # fmt: skip
    apart = abs(told[CENTRED] - told[HUBER_ROW])
    umap = [(f"{told[CENTRED]:.3f} and UMAP {told[UMAP]:.3f}", told[CENTRED] > told[UMAP] - _CLOSE)
            ] if UMAP in told else []  # fmt: skip
    return [
        judge("Chapter 8, classes", more),
        judge("Chapter 8, penalties", [(f"they differ by {apart:.3f}", apart < _CLOSE)]),
        judge("Chapter 8, UMAP", umap),
    ]


def draw(found: Mapping[str, Run], digits: Array, path: Path) -> None:
    """Draw the two-dimensional embeddings, coloured by digit."""
    flat = {name: run.vectors for name, run in found.items() if run.vectors.shape[1] == 2}
    with saved_figure(path, 3.2 * len(flat), 3.4) as canvas:
        for axes, (name, vectors) in zip(canvas.subplots(1, len(flat)), flat.items(), strict=True):
            axes.scatter(*vectors.T, c=digits, cmap="tab10", s=0.5, linewidths=0)
            axes.set(title=name, xticks=[], yticks=[])
            axes.set_aspect("equal", adjustable="datalim")
