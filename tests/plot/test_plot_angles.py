"""Plot of angles: counts against brute force, what is drawn, bytes, errors."""

from __future__ import annotations

import re

import numpy as np
import pytest
from figures import assert_tidy, caption_of, unwritten

from wordgeom.cli import main
from wordgeom.evaluation.angles import BINS, count_angles
from wordgeom.evaluation.options import NearPairOptions
from wordgeom.linalg.device import open_context
from wordgeom.plot import angles
from wordgeom.runtime.run_options import UseOptions
from wordgeom.vectors.keyed import write_vectors

pytest.importorskip("matplotlib", reason="matplotlib is not installed: wordgeom[plot]")


@pytest.fixture
def points(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [f"w{k}" for k in range(120)]
    made = np.random.default_rng(1).standard_normal((120, 7)).astype(np.float32)
    write_vectors("words.bin", words, made)
    write_vectors("reduced.bin", words[::-1], np.ascontiguousarray(made[::-1, :3]))
    return made


def counted(threads=2, **options):
    with open_context(UseOptions(threads=threads)) as context:
        return count_angles("reduced.bin", "words.bin", NearPairOptions(**options), context)


def angles_of(points):
    unit = points / np.linalg.norm(points.astype(np.float64), axis=1, keepdims=True)
    return np.arccos(np.clip(unit @ unit.T, -1, 1))


def test_pairs_are_counted_by_both_angles(points):
    found = counted()
    before, after = angles_of(points), angles_of(points[:, :3])
    others = ~np.eye(120, dtype=bool)
    edges = np.linspace(0, np.pi, BINS + 1)
    expected, *_ = np.histogram2d(before[others], after[others], [edges, edges])
    np.testing.assert_array_equal(found.every, expected)
    closest = np.where(others, before, np.inf).argmin(axis=1)
    rows = np.arange(120)
    near, *_ = np.histogram2d(before[rows, closest], after[rows, closest], [edges, edges])
    np.testing.assert_array_equal(found.nearest, near)
    np.testing.assert_array_equal(found.every, counted(threads=1).every)


def test_words_drawn_are_paired_with_all(points):
    found = counted(reference_words=30, tau=0.5)
    assert (found.words, found.drawn, found.tau) == (120, 30, 0.5)
    assert found.every.sum() == 30 * 119
    assert found.nearest.sum() == 30


def test_the_threshold_is_marked_and_named(points, monkeypatch):
    figures = unwritten(monkeypatch, angles)
    angles.draw(counted(tau=0.5), ("reduced.bin", "words.bin"), "angles.svg")
    left, right = figures[0].axes[:2]
    for lines in (
        [line.get_xdata() for line in left.lines],
        [line.get_xdata() for line in right.lines],
        [line.get_ydata() for line in right.lines],
    ):
        assert [60.0, 60.0] in [np.round(line, 9).tolist() for line in lines]
    assert "τ = 0.5000" in caption_of(figures[0])
    assert "14,280 pairs" in caption_of(figures[0])
    assert_tidy(figures[0])


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_command_writes_the_same_bytes(points, capsys, suffix):
    command = ["plot", "angles", "reduced.bin", "--reference", "words.bin", "--quiet"]
    for name, threads in (("one", "1"), ("two", "3")):
        assert main([*command, "-o", f"{name}.{suffix}", "--threads", threads]) == 0
    with open(f"one.{suffix}", "rb") as one, open(f"two.{suffix}", "rb") as two:
        assert one.read() == two.read()
    assert capsys.readouterr().out.startswith(f"one.{suffix}: near pairs: cosine above τ")


def test_errors_are_one_line(points, capsys):
    command = ["plot", "angles", "reduced.bin", "--reference"]
    assert main([*command, "none.bin"]) == 1
    assert re.fullmatch(r"wordgeom: error: none\.bin: .*\n", capsys.readouterr().err)
    write_vectors("other.bin", ["x", "y", "z"], np.eye(3, dtype=np.float32))
    assert main([*command, "other.bin"]) == 1
    assert re.fullmatch(r"wordgeom: error: other\.bin: .*0 in common.*\n", capsys.readouterr().err)
    assert main([*command, "words.bin", "--tau", "1.5"]) == 2
