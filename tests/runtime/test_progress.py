"""The bar: an estimate of the time left only once enough is done to tell."""

from __future__ import annotations

import io
import sys
import time
from contextlib import closing

import pytest

from wordgeom.runtime import progress
from wordgeom.runtime.progress import Pace

pytest.importorskip("tqdm")


def test_the_first_item_does_not_count_since_it_may_compile():
    pace = Pace(100, 0)
    pace.update(1, 60.0)  # a minute for the first hundredth: not 99 minutes for the rest
    assert pace.left() is None
    for k in range(1, 11):
        pace.update(1, 60.0 + 0.5 * k)
    assert pace.left() == pytest.approx(0.5 * 89)


@pytest.mark.parametrize(("share", "seconds"), [(4, 100.0), (50, 2.9)])
def test_little_work_or_little_time_makes_no_estimate(share, seconds):
    pace = Pace(100, 0)
    pace.update(1, 0.0)
    pace.update(share, seconds)
    assert pace.left() is None


def test_work_of_an_earlier_run_does_not_count():
    pace = Pace(1000, 900)
    pace.update(1, 10.0)
    pace.update(50, 20.0)
    assert pace.left() == pytest.approx(49 * 10 / 50)


def test_the_end_is_no_time_away_even_where_the_total_was_too_small():
    pace = Pace(100, 0)
    pace.update(1, 0.0)
    pace.update(120, 10.0)
    assert pace.left() == 0


def test_a_bar_shows_the_time_left_after_a_while_and_not_before(monkeypatch):
    clock = iter(range(0, 1000, 4))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with closing(progress._bar("counting", 100, "rows", 0)) as bar:
        assert "left" not in str(bar)
        bar.update(5)
        assert str(bar).endswith("| 5/100 [00:00]")
        for _ in range(9):
            bar.update(5)
        assert str(bar).endswith("| 50/100 [00:00, 00:40 left]")  # 5 in 4 s
    with closing(progress._bar("reading", None, "B", 0)) as bar:
        bar.update(5)
        assert str(bar).startswith("reading: 5.00B [00:00, ")


def test_lines_of_a_log_give_the_time_left(monkeypatch, caplog):
    clock = iter(range(0, 10_000, 61))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(clock)))
    caplog.set_level("INFO", "wordgeom")
    with closing(progress._Lines("permutations", 4000, "words", 0)) as lines:
        for _ in range(2):
            lines.update(1000)
    assert caplog.messages == [
        "permutations: 1,000 of 4,000 words",
        "permutations: 2,000 of 4,000 words, about 3 min left",  # 122 s
    ]
