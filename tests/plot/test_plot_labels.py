"""Labels: no two overlap and none leaves the axes, whatever the points, names and sizes."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from figures import assert_tidy, caption_of, unwritten
from hypothesis import given, settings
from hypothesis import strategies as st
from test_plot import comparison, spectrum_of
from test_plot_trajectories import paths
from test_plot_volcano import results

from wordgeom.plot import imputation, quality, spectrum, trajectories, volcano
from wordgeom.plot.labels import Labels, coinciding, printable
from wordgeom.plot.options import ColourOptions, PlotOptions

pytest.importorskip("matplotlib", reason="matplotlib is not installed: wordgeom[plot]")

SCRIPTS = ["한국어", "Ελληνικά", "العربية", "中文字", "עברית", "हिन्दी", "a\nb", "$x^2$", "x" * 300]
SMALL = PlotOptions(size="4.5x4", title="A title that is longer than a line of a small figure")


def labelled(points: Any, names: list[str], size: tuple[float, float] = (4, 3)) -> Any:
    """Return a figure with the labels of these points."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    points = np.asarray(points, np.float64)
    axes.plot(*points.T, "o")
    figure.draw_without_rendering()
    labels = Labels(axes, points, points, 4.0)
    labels.place(points, names)
    assert labels.omitted == len(names) - len(axes.texts)
    return figure


def texts(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


_coordinates = st.floats(-3, 3, width=16)
_points = st.lists(st.tuples(_coordinates, _coordinates), min_size=1, max_size=30)


@settings(max_examples=15)
@given(_points, st.integers(1, 50))
def test_labels_of_any_points_are_tidy(points, length):
    names = [f"{k} ".ljust(length, "m") for k in range(len(points))]
    assert_tidy(labelled(points, names))


@pytest.mark.parametrize(
    "points",
    [
        np.zeros((40, 2)),
        np.column_stack((np.arange(60), np.zeros(60))),
        np.column_stack((np.zeros(60), np.arange(60))),
        np.column_stack((np.arange(60), np.arange(60))),
        np.random.default_rng(0).standard_normal((300, 2)),
        np.random.default_rng(0).standard_cauchy((60, 2)),
        np.array([[0, 0], [1, 0], [0, 1], [1, 1]]),
    ],
    ids=["same", "row", "column", "diagonal", "many", "outliers", "corners"],
)
def test_labels_of_adversarial_points_are_tidy(points):
    figure = labelled(points, [f"name {k}" for k in range(len(points))])
    assert_tidy(figure)
    assert len(points) > 200 or "name 0" in texts(figure)  # the most important name has room


def test_leader_lines_cross_neither_each_other_nor_names():
    points = [*np.random.default_rng(1).normal(0, 0.1, (60, 2)).tolist(), [3, 3], [-3, -3]]
    figure = labelled(points, [f"name {k}" for k in range(62)])
    axes = figure.axes[0]
    led = [text for text in axes.texts if text.arrow_patch is not None]
    assert len(led) > 5
    ends = []
    for text in led:
        point = axes.transData.transform(text.xy)
        ends.append((point, point + np.array(text.xyann) * 150 / 72))
    for (a, b), (c, d) in combinations(ends, 2):
        if (a != c).any():
            turns = [np.linalg.det(np.array([q - p, r - p]))
                     for p, q, r in ((a, b, c), (a, b, d), (c, d, a), (c, d, b))]  # fmt: skip
            assert turns[0] * turns[1] >= 0 or turns[2] * turns[3] >= 0


def test_a_name_without_a_leader_is_clearly_nearest_to_its_own_point():
    from matplotlib.text import Text

    row = [[1.972, 4.6], [1.969, 4.6], [1.73, 4.6], [1.65, 4.6], [1.64, 4.6], [0, 0], [2.2, 4.6]]
    names = ["palestine", "soviet", "arab", "israel", "south", "focus", "which"]
    figure = labelled(row, names, (7.2, 5.4))
    axes = figure.axes[0]
    figure.draw_without_rendering()
    pixels = axes.transData.transform(row)
    led = {text.get_text() for text in axes.texts if text.arrow_patch is not None}
    assert led >= {"palestine", "soviet"}
    assert "focus" not in led
    for text in axes.texts:
        box = Text.get_window_extent(text)
        gap = np.maximum(np.maximum([box.x0, box.y0] - pixels, pixels - [box.x1, box.y1]), 0)
        away = np.linalg.norm(gap, axis=1)
        own = away[names.index(text.get_text())]
        assert text.get_text() in led or (away > 1.2 * own).sum() == len(row) - 1


def test_the_first_names_have_priority():
    points = np.zeros((40, 2))
    shown = texts(labelled(points, [f"name {k}" for k in range(40)]))
    assert shown == [f"name {k}" for k in range(len(shown))]


def test_the_same_points_have_the_same_labels():
    points = np.random.default_rng(2).standard_normal((30, 2))
    one, two = (labelled(points, [f"w{k}" for k in range(30)]).axes[0] for _ in range(2))
    assert [t.xyann for t in one.texts] == [t.xyann for t in two.texts]


def test_names_are_shortened_in_the_middle():
    assert printable("a file with a long name, number 12.bin", 20) == "a file with a…12.bin"
    assert printable("a\nb\u202e") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}"


def test_coinciding_points_are_counted_up_to_rounding():
    assert coinciding(np.array([[0.1 + 0.2, 5e300], [0.3, 5e300], [1, 0]])) == 1
    assert coinciding(np.zeros((3, 2))) == 2


# ── Every kind of plot ────────────────────────────────────────────────────────────────────


def chart(positions: Any, names: list[str] | None = None) -> imputation.Chart:
    positions = np.asarray(positions, np.float64).reshape(-1, 2)
    n = len(positions)
    edges, weights = np.empty((0, 2), np.int64), np.empty(0)
    return imputation.Chart(
        names or [f"w{k}" for k in range(n)], positions, np.arange(n) % 2 == 0, edges, weights,
        np.arange(n), f"{n} entities", np.empty(0, np.int64),
    )  # fmt: skip


DRAW = np.random.default_rng(0)
CHARTS = {
    "one": chart([[0, 0]]),
    "same": chart([[1, 1], [1, 1]]),
    "crowd": chart(DRAW.standard_normal((300, 2))),
    "scripts": chart(DRAW.standard_normal((len(SCRIPTS), 2)), SCRIPTS),
}


@pytest.mark.parametrize("options", [None, SMALL], ids=["own size", "small"])
@pytest.mark.parametrize("name", CHARTS)
def test_imputation_plots_are_tidy(monkeypatch, name, options):
    figures = unwritten(monkeypatch, imputation)
    caption = imputation.draw(CHARTS[name], "i.png", options)
    assert_tidy(figures[0])
    assert caption_of(figures[0]) == caption
    if name == "same":
        assert "1 entity is at the position of another" in caption


@pytest.mark.parametrize("options", [None, SMALL, PlotOptions(caption=False)])
@pytest.mark.parametrize("n", [1, 150])
def test_volcano_plots_are_tidy(monkeypatch, n, options):
    figures = unwritten(monkeypatch, volcano)
    for made in (results(n), results(n, words=(SCRIPTS * n)[:n], displacement=np.ones(n))):
        volcano.draw(made, "v.png", [], options)
        assert_tidy(figures[-1])
        shown = options is None or options.caption
        assert bool(caption_of(figures[-1])) == shown


@pytest.mark.parametrize("options", [None, PlotOptions(size="7x3")], ids=["own size", "small"])
def test_trajectories_are_tidy(monkeypatch, options):
    figures = unwritten(monkeypatch, trajectories)
    for words in (["mover"], ["stays"], ["mover", "stays", "a0"]):
        trajectories.draw(paths(*words), "t.png", options)
        assert_tidy(figures[-1])


@pytest.mark.parametrize("sets", [1, 4])
def test_comparisons_are_tidy(monkeypatch, sets):
    figures = unwritten(monkeypatch, quality)
    for seconds in ([2.0] * 9, [2 * 1.2**k for k in range(9)]):
        kinds = ["method", "peer", "file"] * 3
        rows = zip([*SCRIPTS[:6], "gbu", "sgns", "x" * 99], kinds, seconds, strict=True)
        quality.draw(comparison(*rows, sets=sets), "q.png", PlotOptions(title="Quality"))
        assert_tidy(figures[-1])


@pytest.mark.parametrize("n", [1, 3, 12])
def test_spectra_are_tidy(monkeypatch, n):
    figures = unwritten(monkeypatch, spectrum)
    made = [spectrum_of(f"a file with a long name, and number {k}.bin", [9.0 + k, 3, -1][: n + 1])
            for k in range(n)]  # fmt: skip
    spectrum.draw(made, "s.png", PlotOptions(title="Spectra"))
    assert_tidy(figures[0])
    assert all(line.get_marker() == "o" for line in figures[0].axes[0].lines)


@pytest.mark.parametrize(
    ("values", "title"),
    [("group {k}", None), ("{k}", "A title " * 30)],
    ids=["categories", "numbers, with a title"],
)
def test_coloured_plots_are_tidy(monkeypatch, tmp_path, values, title):
    path = tmp_path / "groups.tsv"
    path.write_text("".join(f"w{k}\t{values.format(k=k % 20)}\n" for k in range(100)))
    figures = unwritten(monkeypatch, imputation)
    colours = ColourOptions(colour_by=str(path))
    caption = imputation.draw(CHARTS["crowd"], "i.png", PlotOptions(title=title), colours)
    assert "200 not in groups.tsv (grey)" in caption
    assert_tidy(figures[0])
