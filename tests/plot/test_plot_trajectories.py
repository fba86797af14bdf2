"""The ways of words: where they lead, among whom, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.types import Float32, Float64
from wordgeom.plot import neighbourhoods, trajectories

FIRST, LAST = 1950, 2020
GROUPS = [f"{letter}{k}" for letter in "abc" for k in range(6)]


@pytest.fixture(autouse=True)
def _matplotlib() -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: wordgeom[plot]")


@dataclass
class Planted:
    """A word that goes from the group a to the group b, one that stays at c, one that is nothing.

    It takes all of the way between the groups, in equal steps; `dims` axes.
    """

    dims: int = 5
    words: list[str] = field(default_factory=lambda: ["mover", "stays", "naught", *GROUPS])
    times: Float64 = field(default_factory=lambda: np.linspace(FIRST, LAST, 50))

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


def ways(*words: str, **more: Any) -> list[neighbourhoods.Trajectory]:
    return neighbourhoods.trajectories(Planted(), words, **more)


# ── Where words are ──────────────────────────────────────────────────────────────────────────


def test_a_word_goes_from_its_neighbours_then_to_those_now():
    (way,) = ways("mover")
    assert len(way.then) == len(way.now) == 5
    assert {name[0] for name in way.then} == {"a"}
    assert {name[0] for name in way.now} == {"b"}
    assert way.times == ["1950", "1964", "1978", "1992", "2006", "2020"]
    steps = np.diff(way.places, axis=0)
    assert steps == pytest.approx(np.tile(steps[:1], (5, 1)), abs=1e-6)
    for end, there, elsewhere in ((0, way.then_places, way.now_places),
                                  (-1, way.now_places, way.then_places)):  # fmt: skip
        near, far = (np.linalg.norm(places.mean(axis=0) - way.places[end])
                     for places in (there, elsewhere))  # fmt: skip
        assert near < far


def test_displacement_is_the_length_between_the_ends_over_the_spread():
    model = Planted()
    way, still = ways("mover", "stays")
    moved = model.vectors_at(LAST)[0] - model.vectors_at(FIRST)[0]
    expected = np.linalg.norm(moved) / (model.spread[0] * np.sqrt(50))
    assert way.displacement == pytest.approx(expected)
    assert way.cosine == pytest.approx(0, abs=1e-6)
    assert still.displacement == 0
    assert still.cosine == pytest.approx(1)
    assert still.then == still.now


def test_two_dimensions_are_shown_whole_and_more_as_well_as_can_be():
    (flat,) = neighbourhoods.trajectories(Planted(dims=2), ["mover"])
    assert flat.kept == pytest.approx(1)
    length = np.linalg.norm(flat.places[-1] - flat.places[0])
    assert length == pytest.approx(flat.displacement)
    (way,) = ways("mover")
    assert 0.3 < way.kept < 1
    assert np.linalg.norm(way.places[-1] - way.places[0]) <= way.displacement + 1e-9


def test_a_group_weighs_the_same_whatever_its_number():
    draw = np.random.default_rng(0)
    way, around = draw.normal(size=(4, 6)), draw.normal(size=(9, 6))
    once, kept = neighbourhoods._plane([way, around])
    twice, same = neighbourhoods._plane([way, np.vstack((around, around))])
    assert np.abs(twice[:13]) == pytest.approx(np.abs(once))
    assert same == pytest.approx(kept)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(1946, 2024, ["1946", "1962", "1977", "1993", "2008", "2024"]),
     (1946.3, 2023.6, ["1946", "1962", "1977", "1993", "2008", "2024"]),
     (0, 1, ["0", "0.2", "0.4", "0.6", "0.8", "1"]),
     (2020, 2020.01, ["2020", "2020.002", "2020.004", "2020.006", "2020.008", "2020.01"])],
)  # fmt: skip
def test_times_are_even_within_the_model_s_and_told_apart(low, high, expected):
    at = neighbourhoods.even_times(np.array([low, high, (low + high) / 2]))
    assert (at[0], at[-1]) == (low, high)
    assert all(one < two for one, two in pairwise(at))
    assert neighbourhoods.written(at) == expected


def test_times_that_are_asked_for_are_taken_in_their_order():
    (way,) = ways("mover", times=[2000.0, 1960.5, 1960.5])
    assert way.times == ["1960.5", "2000"]
    assert len(way.places) == 2


@pytest.mark.parametrize(
    ("words", "times", "kind", "parts"),
    [
        (["movr"], (), InputError, ("unknown word 'movr'", "did you mean mover?")),
        (["naught"], (), InputError, ("'naught' has no vector in 1950", "leave it out")),
        (GROUPS[:7], (), OptionError, ("--words takes 1 to 6 words", "found 7")),
        (["mover"], (1960.0,), OptionError, ("--at takes two times or more", "1960")),
        (["mover"], (1960.0, np.nan), OptionError, ("--at takes two times or more",)),
        (["mover"], (1940.0, 1960.0), OptionError, ("1950 to 2020", "found 1940")),
    ],
)
def test_what_cannot_be_drawn_is_one_line(words, times, kind, parts):
    with pytest.raises(kind) as caught:
        neighbourhoods.trajectories(Planted(), words, times)
    assert_one_line(caught, *parts)


# ── The picture ──────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are drawn, which are not written."""
    kept = []

    @contextmanager
    def keeping(path: Any, width: float, height: float) -> Iterator[Any]:
        from matplotlib.figure import Figure

        kept.append(Figure(figsize=(width, height), layout="constrained"))
        yield kept[-1]

    monkeypatch.setattr(trajectories, "drawn", keeping)
    return kept


def test_each_word_has_a_panel_with_its_way_its_times_and_its_neighbours(seen):
    mover, stays = ways("mover", "stays")
    caption = trajectories.draw([mover, stays], "w.png")
    assert caption.startswith("mover, stays, 1950 to 2020")
    panel, other = seen[0].axes
    assert [axes.get_title() for axes in (panel, other)] == ["mover", "stays"]
    drawn = {line.get_marker(): line for line in panel.lines if line.get_color() == "#1a1a1a"}
    assert drawn["o"].get_xydata() == pytest.approx(mover.places)
    texts = {text.get_text(): text.xy for text in panel.texts}
    assert texts["1950"] == pytest.approx(mover.places[0])
    assert texts["2020"] == pytest.approx(mover.places[-1])
    around = np.vstack((mover.then_places, mover.now_places))
    for name, where in zip([*mover.then, *mover.now], around, strict=True):
        assert name not in texts or texts[name] == pytest.approx(where)
    assert len(panel.patches) == 5  # an arrow for each step
    assert not other.patches
    assert f"displacement {mover.displacement:.2g}, cosine {mover.cosine:.2f}" in panel.get_xlabel()
    keys = [text.get_text() for text in seen[0].legends[0].get_texts()]
    assert keys == ["the word", "nearest in 1950", "nearest in 2020", "in both"]


def test_no_name_covers_another_or_lies_outside_and_those_without_room_are_counted(seen):
    from matplotlib.text import Text

    drawn = [ways(name)[0] for name in ("mover", "stays", "a0", "b0", "c0")]
    long = [f"{name} and more than there is room for" for name in drawn[0].now]
    drawn.append(replace(drawn[0], now=long, now_places=0 * drawn[0].now_places))
    caption = trajectories.draw(drawn, "w.png")
    left = []
    for axes, way in zip(seen[0].axes, drawn, strict=True):
        for text in axes.texts:
            text.get_window_extent()  # puts it in its place
        boxes = [Text.get_window_extent(text) for text in axes.texts]  # without lines to them
        assert not any(one.overlaps(two) for one, two in combinations(boxes, 2))
        assert all(axes.bbox.x0 <= box.x0 < box.x1 <= axes.bbox.x1 for box in boxes)
        left.append(len(way.times) + len(set(way.then) | set(way.now)) - len(boxes))
    assert left[:5] == [0] * 5
    assert caption.endswith(f", names without room: {left[5]}")


@pytest.mark.parametrize(("words", "shape"), [(3, (1, 3)), (4, (2, 2)), (5, (2, 3))])
def test_panels_stand_beside_each_other(seen, words, shape):
    trajectories.draw(ways(*GROUPS[:words]), "w.png")
    grid = seen[0].axes[0].get_gridspec()
    assert (grid.nrows, grid.ncols) == shape
    assert len(seen[0].axes) == words


def test_a_lone_word_that_stays_is_drawn(tmp_path):
    model = Planted(words=["mover"])
    model._ends = [np.ones((1, 5))] * 2
    (way,) = neighbourhoods.trajectories(model, ["mover"])
    assert (way.then, way.now, way.kept) == ([], [], 1)
    trajectories.draw([way], tmp_path / "w.png")
    assert (tmp_path / "w.png").stat().st_size
