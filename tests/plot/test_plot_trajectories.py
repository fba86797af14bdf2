"""Word trajectories: positions, neighbours, and rejected input."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line
from figures import assert_tidy, unwritten

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.types import Float32, Float64
from wordgeom.methods.dlsa.usage import WordsAt
from wordgeom.plot import neighbourhoods, trajectories
from wordgeom.vectors.keyed import Vectors

pytest.importorskip("matplotlib", reason="matplotlib is not installed: wordgeom[plot]")

FIRST, LAST = 1950, 2020
GROUPS = [f"{letter}{k}" for letter in "abc" for k in range(6)]


@dataclass
class Planted:
    """A word that moves from group a to group b in equal steps, one that stays at c, a zero vector.

    dims: number of axes; unused: words that are not in use at a time.
    """

    dims: int = 5
    words: list[str] = field(default_factory=lambda: ["mover", "stays", "naught", *GROUPS])
    times: Float64 = field(default_factory=lambda: np.linspace(FIRST, LAST, 50))
    unused: dict[float, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        draw = np.random.default_rng(0)
        centres = 3 * np.eye(3, self.dims)[[0, 1, 2 % self.dims]]
        around = np.repeat(centres, 6, axis=0) + draw.normal(0, 0.3, (18, self.dims))
        still = np.vstack((centres[2], np.zeros(self.dims), around))
        self._ends = [np.vstack((centre, still)) for centre in centres[:2]]
        self.spread = draw.uniform(0.5, 2, len(self.words))

    def vectors_at(self, time: float) -> Float32:
        share = (time - FIRST) / (LAST - FIRST)
        made = self._ends[0] + share * (self._ends[1] - self._ends[0])
        return np.asarray(made, np.float32)

    def at(self, time: float) -> WordsAt:
        used = np.array([word not in self.unused.get(time, ()) for word in self.words])
        return WordsAt(time, Vectors(self.words, self.vectors_at(time)), used)


def paths(*words: str, model: Any = None, **more: Any) -> list[neighbourhoods.Trajectory]:
    planted: Any = model or Planted()
    return neighbourhoods.trajectories(planted, words, **more)


# ── Trajectories ──────────────────────────────────────────────────────────────────────────


def test_a_word_moves_from_its_first_to_its_last_neighbours():
    (path,) = paths("mover")
    assert len(path.first) == len(path.last) == 5
    assert {name[0] for name in path.first} == {"a"}
    assert {name[0] for name in path.last} == {"b"}
    assert path.times == ["1950", "1964", "1978", "1992", "2006", "2020"]
    steps = np.diff(path.positions, axis=0)
    assert steps == pytest.approx(np.tile(steps[:1], (5, 1)), abs=1e-6)
    for end, there, elsewhere in ((0, path.first_positions, path.last_positions),
                                  (-1, path.last_positions, path.first_positions)):  # fmt: skip
        near, far = (np.linalg.norm(places.mean(axis=0) - path.positions[end])
                     for places in (there, elsewhere))  # fmt: skip
        assert near < far


def test_words_that_are_not_in_use_are_no_neighbours_and_have_none(tmp_path):
    rotc = Planted(unused={FIRST: ["a0", "b3", "stays"]})
    mover, stays = paths("mover", "stays", model=rotc)
    assert "a0" not in mover.first
    assert set(mover.first) >= {name for name in paths("mover")[0].first if name != "a0"}
    assert mover.last == paths("mover")[0].last
    assert (stays.first, len(stays.last)) == ([], 5)
    trajectories.draw([mover, stays], tmp_path / "w.png")


def test_displacement_is_the_distance_of_the_ends_in_standard_deviations():
    model = Planted()
    path, still = paths("mover", "stays")
    moved = model.vectors_at(LAST)[0] - model.vectors_at(FIRST)[0]
    expected = np.linalg.norm(moved) / (model.spread[0] * np.sqrt(50))
    assert path.displacement == pytest.approx(expected)
    assert path.cosine == pytest.approx(0, abs=1e-6)
    assert still.displacement == 0
    assert still.cosine == pytest.approx(1)
    assert still.first == still.last


def test_the_plane_explains_two_dimensions_fully_and_more_partly():
    (flat,) = paths("mover", model=Planted(dims=2))
    assert flat.explained == pytest.approx(1)
    length = np.linalg.norm(flat.positions[-1] - flat.positions[0])
    assert length == pytest.approx(flat.displacement)
    (path,) = paths("mover")
    assert 0.3 < path.explained < 1
    assert np.linalg.norm(path.positions[-1] - path.positions[0]) <= path.displacement + 1e-9


def test_groups_have_equal_weight():
    draw = np.random.default_rng(0)
    path, around = draw.normal(size=(4, 6)), draw.normal(size=(9, 6))
    once, kept = neighbourhoods._plane([path, around])
    twice, same = neighbourhoods._plane([path, np.vstack((around, around))])
    assert np.abs(twice[:13]) == pytest.approx(np.abs(once))
    assert same == pytest.approx(kept)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(1946, 2024, ["1946", "1962", "1977", "1993", "2008", "2024"]),
     (1946.3, 2023.6, ["1946", "1962", "1977", "1993", "2008", "2024"]),
     (0, 1, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
     (2020, 2020.01, ["2020", "2020.002", "2020.004", "2020.006", "2020.008", "2020.01"])],
)  # fmt: skip
def test_default_times_are_even_and_their_labels_distinct(low, high, expected):
    at = neighbourhoods.even_times(np.array([low, high, (low + high) / 2]))
    assert (at[0], at[-1]) == (low, high)
    assert all(one < two for one, two in pairwise(at))
    assert neighbourhoods.time_labels(at) == expected


def test_given_times_are_sorted():
    (path,) = paths("mover", times=[2000.0, 1960.5, 1960.5])
    assert path.times == ["1960.5", "2000"]
    assert len(path.positions) == 2


@pytest.mark.parametrize(
    ("words", "times", "kind", "parts"),
    [
        (["movr"], (), InputError, ("unknown word 'movr'", "did you mean mover?")),
        (["naught"], (), InputError, ("'naught' has no vector in 1950", "omit it")),
        (GROUPS[:7], (), OptionError, ("--words takes 1 to 6 words", "found 7")),
        (["mover"], (1960.0,), OptionError, ("--at takes at least two times", "1960")),
        (["mover"], (1960.0, np.nan), OptionError, ("--at takes at least two times",)),
        (["mover"], (1940.0, 1960.0), OptionError, ("1950 to 2020", "found 1940")),
    ],
)
def test_invalid_words_and_times_are_one_line_errors(words, times, kind, parts):
    with pytest.raises(kind) as caught:
        paths(*words, times=times)
    assert_one_line(caught, *parts)


# ── The plot ──────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    return unwritten(monkeypatch, trajectories)


def test_a_panel_shows_the_trajectory_its_times_and_neighbours(seen):
    mover, stays = paths("mover", "stays")
    caption = trajectories.draw([mover, stays], "w.png")
    assert caption.startswith("mover, stays, 1950 to 2020")
    panel, other = seen[0].axes
    assert [axes.get_title(loc="left") for axes in (panel, other)] == ["mover", "stays"]
    drawn = {line.get_marker(): line for line in panel.lines if line.get_color() == "#1a1a1a"}
    assert drawn["o"].get_xydata() == pytest.approx(mover.positions)
    texts = {text.get_text(): text.xy for text in panel.texts}
    assert texts["1950"] == pytest.approx(mover.positions[0])
    assert texts["2020"] == pytest.approx(mover.positions[-1])
    around = np.vstack((mover.first_positions, mover.last_positions))
    for name, where in zip([*mover.first, *mover.last], around, strict=True):
        assert name not in texts or texts[name] == pytest.approx(where)
    assert len(panel.patches) == 5  # an arrow for each step
    assert not other.patches
    assert f"displacement {mover.displacement:.2g}, cosine {mover.cosine:.2f}" in panel.get_xlabel()
    keys = [text.get_text() for text in seen[0].legends[0].get_texts()]
    assert keys == ["word", "nearest in 1950", "nearest in 2020", "nearest in both"]


def test_names_fit_without_overlap_and_omitted_ones_are_counted(seen):
    drawn = [paths(name)[0] for name in ("mover", "stays", "a0", "b0", "c0")]
    long = [f"{name} and more than there is room for" for name in drawn[0].last]
    drawn.append(replace(drawn[0], last=long, last_positions=0 * drawn[0].last_positions))
    caption = trajectories.draw(drawn, "w.png")
    assert_tidy(seen[0])
    left = 0
    for axes, path in zip(seen[0].axes, drawn, strict=True):
        left += len(path.times) + len(set(path.first) | set(path.last)) - len(axes.texts)
    assert left > 0
    assert caption.endswith(f", {left} names omitted for lack of room")


@pytest.mark.parametrize(("words", "shape"), [(3, (1, 3)), (4, (2, 2)), (5, (2, 3))])
def test_panels_form_a_grid(seen, words, shape):
    trajectories.draw(paths(*GROUPS[:words]), "w.png")
    grid = seen[0].axes[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == shape
    assert len(seen[0].axes) == words


def test_a_lone_word_that_stays_is_drawn(tmp_path):
    model = Planted(words=["mover"])
    model._ends = [np.ones((1, 5))] * 2
    (path,) = paths("mover", model=model)
    assert (path.first, path.last, path.explained) == ([], [], 1)
    trajectories.draw([path], tmp_path / "w.png")
    assert (tmp_path / "w.png").stat().st_size
