"""The volcano plot of change: positions of words, labels, and errors for broken results."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line
from figures import assert_tidy, caption_of, unwritten
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.core.errors import FormatError, InputError, MissingInputError, WordgeomError
from wordgeom.plot import colours, volcano
from wordgeom.plot.drift_results import DriftResults, read_drift_results
from wordgeom.plot.options import PlotOptions

pytest.importorskip("matplotlib", reason="matplotlib is not installed: wordgeom[plot]")


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    return unwritten(monkeypatch, volcano)


def results(n: int = 60, **changed: Any) -> DriftResults:
    """Return results in which every third word has the smallest p of 99 permutations, .01."""
    draw = np.random.default_rng(0)
    p = np.where(np.arange(n) % 3 == 0, 0.01, draw.integers(2, 100, n) / 100)
    q = np.minimum(p * 3, 1)
    made = DriftResults([f"w{k}" for k in range(n)], draw.uniform(0.2, 1, n), p, q, smallest_p=0.01)
    return replace(made, **changed)


def written(content: Any, name: str = "drift.json") -> Path:
    path = Path(name)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def points(made: Any) -> dict[tuple[float, float], str]:
    """Return the colours of the markers by their positions."""
    lines = [line for line in made.axes[0].lines if line.get_label().startswith(("q ≤", "q >"))]
    return {(x, y): line.get_color() for line in lines for x, y in line.get_xydata()}


def rules(made: Any) -> dict[str, float]:
    """Return the heights of the horizontal lines by their labels."""
    lines = [line for line in made.axes[0].lines if line.get_linestyle() in ("--", ":")]
    return {line.get_label(): line.get_ydata()[0] for line in lines}


# ── The plot ──────────────────────────────────────────────────────────────────────────────


def test_markers_show_displacement_p_and_q(tmp_path, seen):
    made = results(smallest_p=0.0)
    volcano.draw(made, tmp_path / "v.png")
    found = points(seen[0])
    assert len(found) == 60
    for x, p, q in zip(made.displacement, made.p, made.q, strict=True):
        assert found[x, -np.log10(p)] == (colours.BLUE if q <= 0.05 else colours.UNKNOWN)


def test_lines_mark_the_q_threshold_and_the_smallest_p(tmp_path, seen):
    made = results(smallest_p=0.001)
    last = made.p[made.q <= 0.05].max()
    volcano.draw(made, tmp_path / "v.png")
    heights = rules(seen[0])
    assert heights.pop(f"q = .05 (p = {last:.3g})".replace("0.", ".")) == -np.log10(last)
    assert heights == {"smallest possible p: .001": 3.0}
    caption = volcano.draw(replace(made, q=np.ones(60)), tmp_path / "n.png")
    assert caption == "60 words, 0 with q ≤ .05"
    caption = volcano.draw(replace(made, q=np.ones(60), model_words=1000), tmp_path / "n.png")
    assert caption == "60 words of the model's 1,000, 0 with q ≤ .05"
    assert list(rules(seen[1])) == ["smallest possible p: .001"]


def test_words_at_the_smallest_p_are_on_its_line(tmp_path, seen):
    made = results()
    caption = volcano.draw(made, tmp_path / "v.png")
    assert caption.startswith("60 words, 20 with q ≤ .05, 20 at the smallest p")
    high = {x: y for (x, y) in points(seen[0]) if y >= 2}
    assert high.keys() == set(made.displacement[made.p == 0.01])
    assert set(high.values()) == {2}  # no jitter
    assert seen[0].axes[0].get_yticks().max() <= 2  # no number where there can be no p
    assert_tidy(seen[0])


def test_words_at_one_position_are_counted(tmp_path, seen):
    made = results(3, displacement=np.ones(3), p=np.array([0.01, 0.01, 0.5]))
    assert "1 word is at the position of another" in volcano.draw(made, tmp_path / "v.png")
    assert "1 word is at the position of another" in caption_of(seen[0])


def test_a_single_word_at_the_smallest_p_is_on_its_line(tmp_path, seen):
    made = results(3, p=np.array([0.01, 0.5, 0.6]))
    assert "smallest" not in volcano.draw(made, tmp_path / "v.png")
    assert max(y for _, y in points(seen[0])) == 2
    assert not seen[0].axes[0].patches


@pytest.mark.parametrize(("last", "scale"), [(1.0, "linear"), (99.0, "log")])
def test_a_wide_range_of_displacements_has_a_logarithmic_axis(tmp_path, seen, last, scale):
    moved = np.linspace(0.5, 1.5, 60)
    moved[0], moved[-1] = 0.0, last
    caption = volcano.draw(results(displacement=moved), tmp_path / "v.png")
    assert seen[0].axes[0].get_xscale() == scale
    told = "1 with displacement 0 not shown" in caption
    assert (len(points(seen[0])), told) == ((59, True) if scale == "log" else (60, False))


def test_the_text_below_describes_the_test(tmp_path, seen):
    made = results(p=np.zeros(60), smallest_p=0.0, method="F tail", assumption="a $x long " * 30)
    assert "7 without p not shown" in volcano.draw(replace(made, without_p=7), tmp_path / "v.png")
    below = seen[0].get_supxlabel().splitlines()
    assert "A p of 0 is drawn at 2e-308." in below
    assert "Test: F tail" in below
    assert_tidy(seen[0])


def test_a_labelled_word_is_drawn_in_front_of_the_lines(seen):
    p = np.append(np.full(59, 0.9), 0.0124)  # just above the line at q = .05
    p[0], q = 0.0123, np.append(np.full(59, 0.9), 0.0501)
    q[0] = 0.0499
    volcano.draw(results(p=p, q=q, displacement=np.append(np.linspace(0.2, 1, 59), 2)), "v.png")
    axes = seen[0].axes[0]
    assert "w59" in [text.get_text() for text in axes.texts]
    last = max((line for line in axes.lines if 2 in line.get_xdata()), key=lambda m: m.zorder)
    assert last.get_markeredgecolor() == "white"
    assert last.get_alpha() is None
    assert last.zorder > max(line.zorder for line in axes.lines if line.get_linestyle() != "None")
    assert last.zorder > 3  # other markers


def test_the_strongest_and_the_named_words_are_labelled_without_overlap(tmp_path, seen):
    from matplotlib.text import Text

    made = results(400)
    weak = int(np.argmin(made.displacement))
    volcano.draw(made, tmp_path / "v.png", [f"w{weak}"])
    texts = {text.get_text(): text for text in seen[0].axes[0].texts}
    assert texts[f"w{weak}"].get_fontweight() == "bold"
    flagged = np.flatnonzero(made.q <= 0.05)
    others = np.flatnonzero(made.q > 0.05)
    strongest = [k[np.argsort(-made.displacement[k])[:n]] for k, n in ((flagged, 24), (others, 6))]
    assert len(texts) > 10
    assert texts.keys() <= {f"w{k}" for k in [*strongest[0], *strongest[1], weak]}
    assert texts.keys() & {f"w{k}" for k in others[others != weak]}
    assert_tidy(seen[0])
    axes = seen[0].axes[0]
    for height in rules(seen[0]).values():  # no line is behind a name
        y = axes.transData.transform((0.5, height))[1]
        boxes = [Text.get_window_extent(text) for text in texts.values()]
        assert not any(box.y0 < y < box.y1 for box in boxes)


def test_names_stay_on_their_side_of_the_threshold(seen):
    n = 40  # grey and blue words close to the line, in a crowd
    p = np.where(np.arange(n) % 2, 0.0475, 0.055) * np.linspace(1, 1.05, n)
    q = np.where(p < 0.052, 0.049, 0.06)
    volcano.draw(results(n, p=p, q=q, displacement=np.linspace(0.4, 0.6, n)), "v.png")
    axes = seen[0].axes[0]
    (line,) = [y for label, y in rules(seen[0]).items() if label.startswith("q")]
    height = axes.transData.transform((0.5, line))[1]
    sides = set()
    for text in axes.texts:
        point = axes.transData.transform(text.xy)[1]
        name = point + text.xyann[1] * seen[0].dpi / 72
        assert (point >= height - 0.01) == (name > height), text.get_text()
        sides.add(name > height)
    assert sides == {True, False}


def test_all_formats_label_the_same_words_at_the_same_places(tmp_path, seen):
    made, options = results(400), (None, PlotOptions(dpi=60), PlotOptions(dpi=301))
    draws = [*((f"{n}.png", options[n]) for n in range(3)), ("v.svg", None), ("v.pdf", None)]
    captions = {volcano.draw(made, tmp_path / name, [], plot) for name, plot in draws}
    assert len(captions) == 1
    labels = [[(t.get_text(), t.xyann) for t in figure.axes[0].texts] for figure in seen]
    assert all(one == labels[0] for one in labels)
    for dpi in (60, 150, 301):  # of the files
        seen[0].set_dpi(dpi)
        assert_tidy(seen[0])


def test_an_unknown_word_that_resembles_none_gets_no_list_of_words(tmp_path):
    with pytest.raises(InputError, match="'zzzz' is not in the plot; no word has"):
        volcano.draw(results(), tmp_path / "v.png", ["zzzz"])


def test_an_unknown_word_is_rejected(tmp_path):
    with pytest.raises(InputError) as caught:
        volcano.draw(results(), tmp_path / "v.png", ["w599"])
    assert_one_line(caught, "'w599'", "did you mean w59?")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("moved", "p", "smallest", "drawn"),
    [([0.0], 1.0, 1.0, 1), ([1e100], 0.0, 0.0, 1), ([0.0, 1e-300], 1e-300, 0.0, 2),
     ([1e-300, 1e100], 1.0, 1.0, 2), ([1e-308, 1e-304, 1e-300], 1e-4, 1e-4, 3),
     ([1e80, 1e94, 1e100], 1.0, 0.0, 2)],
)  # fmt: skip
def test_figures_of_any_size_are_drawn(seen, moved, p, smallest, drawn):
    n = len(moved)
    made = results(n, displacement=np.array(moved), p=np.full(n, p), smallest_p=smallest)
    volcano.draw(made, "v.png")
    assert len(points(seen[0])) == drawn


# ── Results ──────────────────────────────────────────────────────────────────────────────────


WORD = {"word": "w", "displacement": 1.0, "p": 0.5, "q": 0.5}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_results_are_read_and_words_without_p_counted(folder):
    made = results(5)
    rows = zip(made.words, made.displacement, made.p, made.q, strict=True)
    words = [dict(zip(WORD, row, strict=True)) for row in rows]
    held = {"words": words, "test": {"method": "permutation", "smallest_p": 0.01}}
    words[1]["p"] = None
    del words[2]["q"]
    words[3]["word"] = "a\n\ud800" + "b" * 50
    found = read_drift_results(written("\ufeff" + json.dumps(held)))
    assert found.words == ["w0", "a��" + "b" * 23 + "…" + "b" * 13, "w4"]
    for name in ("displacement", "p", "q"):
        assert getattr(found, name).tolist() == getattr(made, name)[[0, 3, 4]].tolist()
    assert (found.without_p, found.smallest_p, found.method) == (2, 0.01, "permutation")
    assert found.model_words == 0
    with_model = read_drift_results(written({**held, "model": {"words": 9}}))
    assert with_model.model_words == 9


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("", ("not JSON", "a model directory")),
        ("[" * 100_000, ("not JSON",)),
        ("[1]", ("not the results of a drift test",)),
        ({"words": {}}, ("not the results of a drift test",)),
        ({"words": [], "test": 3}, ("not the results of a drift test",)),
        ({"words": [WORD, 3]}, ("entry 2 has no word", "drift MODEL --json")),
        ({"words": [WORD, {**WORD, "p": "x"}]}, ("the p of 'w' (word 2)", "found str")),
        ({"words": [{**WORD, "q": True}]}, ("the q of", "between 0 and 1", "found bool")),
        ({"words": [{**WORD, "q": 1.5}]}, ("the q of", "between 0 and 1", "found 1.5")),
        ({"words": [{**WORD, "p": float("nan")}]}, ("the p of", "found nan")),
        ({"words": [{**WORD, "displacement": -1}]}, ("the displacement of", "found -1")),
        ({"words": [{**WORD, "displacement": 10**400}]}, ("the displacement of", "found 1000")),
        ({"words": [WORD], "test": {"smallest_p": []}}, ("smallest_p", "found list")),
        (
            {"words": [WORD], "test": {"smallest_p": 0.8}},
            ("smaller than the smallest possible p", "0.8"),
        ),
    ],
)
def test_broken_results_are_one_line(folder, content, parts):
    with pytest.raises(FormatError) as caught:
        read_drift_results(written(content))
    assert_one_line(caught, "drift.json", "; ", *parts)
    assert len(str(caught.value)) < 300


def test_the_smallest_p_of_words_has_priority(folder):
    for test in ({"smallest_p": 0.8, "smallest_word_p": 0.1}, {"smallest_p": 0.1}):
        assert read_drift_results(written({"words": [WORD], "test": test})).smallest_p == 0.1


def test_results_without_p_and_missing_files_are_rejected(folder):
    with pytest.raises(InputError) as caught:
        read_drift_results(written({"words": [{**WORD, "p": None}], "test": {"smallest_p": None}}))
    assert_one_line(caught, "drift.json", "no word has a displacement, a p and a q", "; ")
    with pytest.raises(MissingInputError, match=r"none\.json: no such file; name"):
        read_drift_results("none.json")


_numbers = st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text(max_size=3))
_entries = st.dictionaries(st.sampled_from([*WORD, "x"]), st.one_of(_numbers, st.just("w")))


@given(st.lists(_entries, max_size=3), st.dictionaries(st.just("smallest_p"), _numbers))
def test_any_results_are_read_or_rejected_in_one_line(tmp_path_factory, words, test):
    path = tmp_path_factory.getbasetemp() / "drift.json"
    path.write_text(json.dumps({"words": words, "test": test}))
    found = None
    with suppress(WordgeomError):
        found = read_drift_results(path)
    if found is None:
        return
    assert len(found.words) + found.without_p == len(words)
    for figures, most in ((found.displacement, 1e100), (found.p, 1), (found.q, 1)):
        assert ((figures >= 0) & (figures <= most)).all()
