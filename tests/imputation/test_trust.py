"""Trust: nearest anchors and errors match brute force, and the trust table round-trips."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from contexts import context_of
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.core.errors import FormatError, InputError, MissingInputError
from wordgeom.core.types import Csr, Float64
from wordgeom.imputation.graph import neighbour_graph
from wordgeom.imputation.trust import Trust, assess_trust
from wordgeom.imputation.trust_table import COLUMNS, read_trust, trust_lines
from wordgeom.imputation.weights import fit_weights
from wordgeom.runtime.pool import Pool


def trust_of(points: Float64, known: np.ndarray, kind: str = "simplex", threads: int = 2) -> Trust:
    """The trust table of points, some of them known."""
    names = [f"e{k}" for k in range(len(points))]
    rows = np.flatnonzero(~known)
    with Pool(threads) as pool:
        graph = neighbour_graph(points, 4, pool)
        fitted = fit_weights(points, graph, rows, kind, 0.0, context_of(pool))  # type: ignore[arg-type]
        return assess_trust(names, points, known, graph, fitted.matrix, rows[:1], pool)


def cloud(n: int = 150, p: int = 40, seed: int = 0) -> tuple[Float64, np.ndarray]:
    draw = np.random.default_rng(seed)
    known = np.zeros(n, bool)
    known[draw.choice(n, p, replace=False)] = True
    return draw.standard_normal((n, 5)), known


@pytest.mark.parametrize("p", [1, 2, 20, 149])
def test_the_nearest_anchor_matches_brute_force(p):
    points, known = cloud(p=p)
    trust = trust_of(points, known)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    apart[:, ~known] = np.inf
    best = apart.min(axis=1)
    has = np.isfinite(best)
    assert has.sum() == len(points) - (p == 1)  # a lone anchor has no other
    assert (trust.anchor[has] == apart.argmin(axis=1)[has]).all()
    assert trust.distance[has] == pytest.approx(best[has])
    assert (trust.anchor[~has] == -1).all()
    assert np.isnan(trust.distance[~has]).all()


def test_the_error_is_relative_to_the_nearest_distance():
    points, known = cloud()
    trust = trust_of(points, known)
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    for entity in np.flatnonzero(~known).tolist():
        others, weights = trust.neighbours(entity)
        assert weights.sum() == pytest.approx(1)
        assert (np.diff(weights) <= 0).all()
        off = np.linalg.norm(points[entity] - weights @ points[others])
        assert trust.error[entity] == pytest.approx(off / apart[entity].min(), abs=1e-12)
        assert trust.anchor_weight[entity] == pytest.approx(weights[known[others]].sum())
    assert trust.error[~known].max() <= 1 + 1e-9  # simplex: no worse than the nearest alone
    assert np.isnan(trust.error[known]).all()
    assert np.isnan(trust.anchor_weight[known]).all()


def test_sources_are_distinguished():
    points, known = cloud()
    trust = trust_of(points, known)
    first, *others = np.flatnonzero(~known).tolist()
    assert trust.row(first).source == "mended"
    assert {trust.row(k).source for k in others} == {"imputed"}
    assert {row.source for row, is_known in zip(trust, known, strict=True) if is_known} == {"known"}


def test_a_twin_has_error_0():
    points, known = cloud()
    known[:2] = True, False
    points[1] = points[0]
    trust = trust_of(points, known)
    assert (trust.anchor[1], trust.distance[1], trust.error[1]) == (0, 0, 0)


def test_threads_do_not_change_a_line():
    points, known = cloud()
    assert list(trust_lines(trust_of(points, known, threads=1))) == list(
        trust_lines(trust_of(points, known, threads=3))
    )


def written(path: Path, trust: Trust) -> Path:
    path.write_bytes(b"".join(trust_lines(trust)))
    return path


def test_a_trust_table_round_trips(tmp_path):
    trust = trust_of(*cloud())
    read = read_trust(written(tmp_path / "t.tsv", trust))
    assert list(trust_lines(read)) == list(trust_lines(trust))
    assert (read.source == trust.source).all()
    assert (read.anchor == trust.anchor).all()


_NAME = st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda n: n.split() == [n])


@given(st.lists(_NAME, min_size=2, max_size=5, unique=True), st.floats(1e-6, 1))
def test_any_name_without_white_space_round_trips(tmp_path_factory, names, weight):
    n = len(names)
    weights = Csr(np.array([0, *[0] * (n - 1), 1]), np.array([0], np.int32), np.array([weight]), n)
    source = np.array([*[0] * (n - 1), 1], np.uint8)
    numbers = np.array([*[np.nan] * (n - 1), weight])
    ties = np.array([*[0] * (n - 1), 3], np.int32), source
    trust = Trust(names, source, np.zeros(n, np.int64), numbers, numbers, numbers, weights, *ties)
    path = written(tmp_path_factory.mktemp("t") / "t.tsv", trust)
    read = read_trust(path)
    assert read.names == names
    assert [row.neighbours for row in read][-1][0][0] == names[0]
    assert list(trust_lines(read)) == list(trust_lines(trust))


def test_a_table_of_an_earlier_version_is_read_without_ties(tmp_path):
    trust = trust_of(*cloud())
    lines = b"".join(trust_lines(trust)).decode().splitlines()
    old = ["\t".join(line.split("\t")[:7]) for line in lines]
    (tmp_path / "t.tsv").write_text("\n".join(old) + "\n")
    read = read_trust(tmp_path / "t.tsv")
    assert list(trust_lines(read)) == list(trust_lines(trust))


HEAD = "\t".join(COLUMNS)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a\tb\n1\t2\n", ("line 1", "not a trust table")),
        (f"{HEAD}\n", ("nothing after the header",)),
        (f"{HEAD}\na\tknown\n", ("line 2",)),
        (f"{HEAD}\na\tguessed\t\t\t\t\t\t0\t0\n", ("line 2",)),
        (f"{HEAD}\na\tknown\tb\t1\t\t\t\t0\t0\n", ("line 2",)),
        (f"{HEAD}\na\timputed\ta\tx\t\t\t\t0\t0\n", ("line 2",)),
        (f"{HEAD}\na\timputed\ta\t1\t1\t1\ta:x\t0\t0\n", ("line 2",)),
        (f"{HEAD}\na\timputed\ta\t1\t1\t1\tc:1\t0\t0\n", ("line 2",)),
    ],
)
def test_a_malformed_trust_table_is_rejected(tmp_path, text, parts):
    (tmp_path / "t.tsv").write_text(text)
    with pytest.raises(FormatError) as error:
        read_trust(tmp_path / "t.tsv")
    for part in (*parts, "t.tsv", "wordgeom impute"):
        assert part in str(error.value)


def test_a_missing_table_is_named(tmp_path):
    with pytest.raises((MissingInputError, InputError), match=r"t\.tsv"):
        read_trust(tmp_path / "t.tsv")
