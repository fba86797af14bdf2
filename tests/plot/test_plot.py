"""Plots: the same bytes each time, written atomically, and errors that say what to do."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line
from figures import assert_tidy, caption_of, unwritten

from wordgeom.cli import main
from wordgeom.comparison.entries import Candidate
from wordgeom.comparison.result import Comparison, Evaluation
from wordgeom.core.errors import (
    InputError,
    MissingInputError,
    OptionError,
    OutputExistsError,
    UnavailableError,
)
from wordgeom.evaluation.answers import Score
from wordgeom.evaluation.options import EvalOptions
from wordgeom.plot import figure, loss, quality, spectrum
from wordgeom.vectors.keyed import write_vectors
from wordgeom.vectors.run_card import card_path

pytest.importorskip("matplotlib", reason="matplotlib is not installed: wordgeom[plot]")

BEGINNINGS = {".png": b"\x89PNG\r\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}


def comparison(*rows: tuple[str, str, float | None], sets: int = 2) -> Comparison:
    """Return candidates of given name, kind and seconds, with random scores."""
    draw = np.random.default_rng(0)
    names = tuple(f"set {k}" for k in range(sets))
    judged = []
    for name, kind, seconds in rows:
        scores = {}
        for each in names:
            value = float(draw.random())
            low, high = (np.nan, np.nan) if each == "set 1" else (value - 0.1, value + 0.1)
            scores[each] = [Score("similarity", each, "spearman", value, low, high, 9, 9)]
        judged.append(Evaluation(Candidate(name, kind, None, seconds), 9, 9, scores=scores))
    return Comparison(tuple(judged), names, 9, rows[0][0], EvalOptions(), 1, ())


ROWS = (("gbu", "method", 2.0), ("sgns", "peer", 180.0), ("a $b_한.bin", "file", 2.1))


def with_spectrum(path: Path, **statistics: Any) -> Path:
    """Write vectors and a card that fits them, with these statistics."""
    write_vectors(path, ["a", "b"], np.ones((2, 3), np.float32))
    from wordgeom.corpus.inputs.readers import file_digest

    content = {"bytes": path.stat().st_size, "sha256": file_digest(str(path))}
    card_path(path).write_text(json.dumps({"statistics": statistics, "content": content}))
    return path


# ── Style and output ──────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("suffix", BEGINNINGS)
def test_bytes_do_not_depend_on_the_user_s_style(tmp_path, suffix):
    import matplotlib

    one, two = tmp_path / f"one{suffix}", tmp_path / f"two{suffix}"
    quality.draw(comparison(*ROWS[:2], sets=1), one)
    with matplotlib.rc_context({"font.size": 20, "lines.linewidth": 9, "savefig.dpi": 40}):
        quality.draw(comparison(*ROWS[:2], sets=1), two)
        assert matplotlib.rcParams["font.size"] == 20
    assert one.read_bytes().startswith(BEGINNINGS[suffix])
    assert one.read_bytes() == two.read_bytes()


def test_an_invalid_output_is_rejected_before_any_work(tmp_path):
    (tmp_path / "there.png").write_bytes(b"mine")
    cases = (
        ("q.jpg", OptionError, ("q.jpg", ".png, .svg or .pdf")),
        ("no/q.png", MissingInputError, ("no such directory",)),
        ("there.png", OutputExistsError, ("exists", "--force")),
    )
    for name, kind, say in cases:
        with pytest.raises(kind) as caught:
            figure.check(tmp_path / name, force=False)
        assert_one_line(caught, *say)
    figure.check(tmp_path / "there.png", force=True)
    figure.check(tmp_path / "new.SVG", force=False)


def test_a_failed_plot_keeps_the_old_one(tmp_path):
    path = tmp_path / "q.png"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), figure.saved_figure(path, 1, 1):
        raise ZeroDivisionError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UnavailableError) as caught:
        figure.check(tmp_path / "q.png", force=False)
    assert_one_line(caught, "matplotlib", "pip install 'wordgeom[plot]'")
    with pytest.raises(UnavailableError):
        quality.draw(comparison(*ROWS), tmp_path / "q.png")


# ── Quality against seconds ──────────────────────────────────────────────────────────────────


def test_names_are_next_to_their_markers_without_overlap(monkeypatch):
    rows = [(f"method {k}", "method", 2.0 + 0.05 * k) for k in range(5)]
    figures = unwritten(monkeypatch, quality)
    assert quality.draw(comparison(*rows), "q.png") == []
    for axes in figures[0].axes:
        assert sorted(text.get_text() for text in axes.texts) == [name for name, *_ in rows]
    assert_tidy(figures[0])


def test_markers_and_bars_show_seconds_scores_and_intervals(tmp_path, monkeypatch):
    seen = unwritten(monkeypatch, quality)
    whole = comparison(*ROWS)
    quality.draw(whole, tmp_path / "q.svg")
    axes = seen[0].axes[0]
    assert (axes.get_title(loc="left"), axes.get_ylabel()) == ("set 0", "spearman")
    assert axes.get_xscale() == "log"
    drawn = [line for line in axes.lines if len(line.get_xdata())]
    marks = [tuple(line.get_xydata()[0]) for line in drawn if line.get_marker() != "None"]
    bars = [line.get_xydata().tolist() for line in drawn if line.get_marker() == "None"]
    for one, mark, bar in zip(whole.evaluations, marks, bars, strict=True):
        score, x = one.scores["set 0"][0], one.candidate.seconds
        assert mark == (x, score.value)
        assert bar == [[x, score.low], [x, score.high]]
    assert len(seen[0].axes[1].lines) == 3  # without intervals no bars
    assert caption_of(seen[0]) == "bars: 95 % intervals"
    keys = [text.get_text() for text in seen[0].legends[0].get_texts()]
    assert keys == ["method", "baseline", "file"]
    quality.draw(replace(whole, sets=("set 1",)), tmp_path / "none.svg")
    assert "interval" not in seen[1].get_supxlabel()


def test_candidates_without_seconds_are_returned_not_drawn(tmp_path):
    rows = (*ROWS, ("old.bin", "file", None))
    assert quality.draw(comparison(*rows, sets=4), tmp_path / "q.png") == ["old.bin"]
    with pytest.raises(InputError) as caught:
        quality.draw(comparison(rows[-1]), tmp_path / "n.png")
    assert_one_line(caught, "n.png", "no training time is known", "; ")
    assert not (tmp_path / "n.png").exists()


# ── Spectra ──────────────────────────────────────────────────────────────────────────────────


def test_a_spectrum_comes_from_the_run_card(tmp_path):
    path = with_spectrum(tmp_path / "v.bin", spectrum=[4.0, 2.0, -1.0], residuals=[0.1, 0.2, 0.3])
    found = spectrum.read_spectrum(path)
    assert (found.name, found.values.tolist()) == ("v.bin", [4, 2, -1])
    assert found.residuals.tolist() == [0.1, 0.2, 0.3]
    assert spectrum.shares(found.values) == pytest.approx([4 / 6, 1, 1])  # of what is positive
    bare = with_spectrum(tmp_path / "w.bin", spectrum=[4.0], residuals="?")
    assert not len(spectrum.read_spectrum(bare).residuals)


@pytest.mark.parametrize(
    "held", [{}, {"spectrum": []}, {"spectrum": "x"}, {"spectrum": [[1.0]]}, {"spectrum": [-1.0]}]
)
def test_a_card_without_a_spectrum_is_not_a_missing_card(tmp_path, held):
    path = with_spectrum(tmp_path / "v.bin", **held)
    with pytest.raises(InputError) as caught:
        spectrum.read_spectrum(path)
    assert_one_line(caught, path, "no spectrum in its run card", "pmi-eigs")
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(InputError) as unfit:
        spectrum.read_spectrum(path)
    assert_one_line(unfit, path, "no matching run card", "pmi-eigs")
    with pytest.raises(MissingInputError):
        spectrum.read_spectrum(tmp_path / "nowhere.bin")
    with pytest.raises(MissingInputError) as folder:
        spectrum.read_spectrum(tmp_path)
    assert_one_line(folder, tmp_path, "is a directory; pass a vectors file")


@pytest.fixture
def seen(monkeypatch):
    """The figures in the order in which they are drawn."""
    return unwritten(monkeypatch, spectrum)


def spectrum_of(name: str, values: Any, residuals: Any = ()) -> spectrum.Spectrum:
    return spectrum.Spectrum(name, np.asarray(values, float), np.asarray(residuals, float))


@pytest.mark.parametrize("top", [5.01, 1.3, 7.7])
@pytest.mark.parametrize("span", [1.02, 3.0, 9.9])
def test_a_short_axis_has_three_numbers(tmp_path, seen, top, span):
    values = np.geomspace(top * span, top, 12)
    spectrum.draw([spectrum_of("v", values)], tmp_path / "s.png")
    axis = seen[0].axes[0].yaxis
    low, high = axis.get_view_interval()
    inside = [tick for tick in axis.get_majorticklocs() if low <= tick <= high]
    labels = axis.get_major_formatter().format_ticks(inside)
    assert len(set(labels)) >= 3


def test_the_title_mentions_a_band_and_the_legend_a_hidden_curve(tmp_path, seen):
    values = [4.0, 2.0, 1.0]
    bare = [spectrum_of("a", values), spectrum_of("b", values), spectrum_of("c", [4.0, 3.0, 1.0])]
    spectrum.draw(bare, tmp_path / "s.png")
    spectrum.draw([spectrum_of("a", values, [0.1] * 3)], tmp_path / "s.png")
    assert [caption_of(made) for made in seen] == ["", "band: ± residual, at most 10 % of a value"]
    names = [text.get_text() for text in seen[0].legends[0].get_texts()]
    assert names == [" a", " b\n (same as a)", " c"]
    of_lsa = replace(spectrum_of("d", values), of=spectrum.SINGULAR)
    spectrum.draw([spectrum_of("n", [2.0, -1.0, -3.0])], tmp_path / "s.png")
    assert caption_of(seen[-1]) == "n: 2 values ≤ 0 not drawn"
    for spectra, title in ([of_lsa], "singular value σ"), ([bare[0], of_lsa], "eigenvalue λ or "):
        spectrum.draw(spectra, tmp_path / "s.png")
        assert seen[-1].axes[0].get_title(loc="left").startswith(title)


def test_spectra_are_drawn_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    values = (100 / np.arange(1, 31)).tolist()
    for name in ("v.bin", "_w.bin"):
        with_spectrum(Path(name), spectrum=values, residuals=[1e-3] * 30)
    assert main(["plot", "spectrum", "v.bin", "_w.bin"]) == 0
    assert capsys.readouterr().out == "spectrum.png: v.bin (30), _w.bin (30)\n"
    first = Path("spectrum.png").read_bytes()
    assert main(["plot", "spectrum", "v.bin", "_w.bin"]) == 1
    assert "spectrum.png: exists" in capsys.readouterr().err
    assert main(["plot", "spectrum", "v.bin", "_w.bin", "--force"]) == 0
    assert Path("spectrum.png").read_bytes() == first
    assert main(["plot", "spectrum", "none.bin"]) == 1  # the input before the output
    assert "none.bin: no such file" in capsys.readouterr().err
    assert main(["plot", "spectrum", "v.bin", "-o", "s.gif"]) == 2
    assert main(["plot", "spectrumm", "v.bin"]) == 2
    assert "did you mean spectrum?" in capsys.readouterr().err


# ── Loss curves ──────────────────────────────────────────────────────────────────────────────


def test_a_loss_curve_comes_from_the_run_card(tmp_path):
    path = with_spectrum(tmp_path / "v.bin", losses=[4.0, 2.0, 1.0], loss_epochs=[1, 2, 400])
    found = loss.read_curve(path)
    assert (found.name, found.unit, found.total) == ("v.bin", "epoch", 400)
    assert (found.at.tolist(), found.losses.tolist()) == ([1, 2, 400], [4, 2, 1])
    swept = loss.read_curve(with_spectrum(tmp_path / "w.bin", objective=[9.0, 8.0]))
    assert (swept.unit, swept.at.tolist(), swept.losses.tolist()) == ("half sweep", [1, 2], [9, 8])
    stepped = with_spectrum(tmp_path / "s.bin", losses=[9.0, 8.0, 7.0], loss_steps=[0, 1, 30])
    found = loss.read_curve(stepped)
    assert (found.unit, found.at.tolist(), found.losses.tolist()) == ("step", [0, 1, 30], [9, 8, 7])


@pytest.mark.parametrize(
    "held",
    [
        {}, {"losses": []}, {"losses": [1.0], "loss_epochs": [1, 2]}, {"losses": [1.0]},
        {"losses": [1.0, 2.0], "loss_epochs": [2, 1]}, {"losses": [-1.0], "loss_epochs": [1]},
        {"losses": "x", "objective": [float("nan")]}, {"losses": [1.0], "loss_steps": [-1]},
        {"strength_of_metric": 10.0, "correlation": 0.8},
    ],
)  # fmt: skip
def test_a_card_without_a_loss_curve_is_explained_in_a_line(tmp_path, held):
    path = with_spectrum(tmp_path / "v.bin", **held)
    with pytest.raises(InputError) as caught:
        loss.read_curve(path)
    assert_one_line(caught, path, "no loss curve in its run card", "such as sgd")


@pytest.mark.parametrize("low", [0.11, 0.23, 0.51, 0.92, 1.7, 6.1, 83.0])
@pytest.mark.parametrize("ratio", [3.1, 3.6, 4.4, 9.0, 40.0])
def test_a_short_logarithmic_axis_has_numbers_at_both_ends(monkeypatch, low, ratio):
    seen = unwritten(monkeypatch, loss)
    loss.draw([loss.Curve("a", np.arange(2.0), low * np.array([ratio, 1.0]), "step")], "l.png")
    axes = seen[0].axes[0]
    bottom, top = axes.get_ylim()
    ticks = [tick for tick in axes.get_yticks() if bottom <= tick <= top]
    assert 3 <= len(ticks) <= 9
    gap = 1.34 if ratio < 4 else 2.5  # the largest ratio of neighbouring numbers
    assert ticks[0] < gap * low
    assert ticks[-1] > low * ratio / gap


def test_loss_curves_of_one_unit_share_a_panel(monkeypatch):
    seen = unwritten(monkeypatch, loss)
    at = np.arange(1.0, 31)
    falling = [loss.Curve(name, at, 9.0 / at, "epoch") for name in ("a", "_b")]
    loss.draw(falling, "l.png")
    loss.draw([*falling, loss.Curve("c", at[:2], np.array([9.0, 8.0]), "half sweep")], "l.png")
    loss.draw([loss.Curve("zero", at[:2], np.array([1.0, 0.0]), "epoch")], "l.png")
    one, two, zero = seen
    assert [axes.get_xlabel() for axes in one.axes] == ["epoch"]
    assert [axes.get_xlabel() for axes in two.axes] == ["epoch", "half sweep"]
    assert [axes.get_yscale() for axes in two.axes] == ["log", "linear"]
    assert zero.axes[0].get_yscale() == "linear"  # a logarithmic axis has no 0
    assert two.axes[0].lines[1].get_ydata().tolist() == falling[1].losses.tolist()
    assert [text.get_text() for text in two.legends[0].get_texts()] == [" a", " _b", " c"]
    assert_tidy(two)


def test_large_losses_are_shown_in_millions(monkeypatch):
    seen, at = unwritten(monkeypatch, loss), np.arange(1.0, 4)
    curves = [loss.Curve("a", at, np.array([1.3e7, 1.2e7, 1.1e7]), "half sweep"),
              loss.Curve("b", at, np.array([2e6, 1e6, 999.0]), "half sweep"),
              loss.Curve("c", at, np.array([3.0, 2.0, 1.0]), "epoch")]  # fmt: skip
    loss.draw(curves, "l.png")
    titles = [axes.get_title("left") for axes in seen[0].axes]
    assert titles == ["objective of weighted sweeps (millions)", "mean squared residual"]
    assert seen[0].axes[0].lines[0].get_ydata() == pytest.approx([13, 12, 11])
    assert seen[0].axes[1].lines[0].get_ydata().tolist() == [3, 2, 1]
    assert_tidy(seen[0])


def test_loss_curves_are_drawn_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with_spectrum(Path("v.bin"), losses=[3.0, 2.0], loss_epochs=[1, 50])
    with_spectrum(Path("w.bin"), objective=[9.0, 8.0])
    assert main(["plot", "loss", "v.bin", "w.bin"]) == 0
    assert capsys.readouterr().out == "loss.png: v.bin (50 epochs), w.bin (2 half sweeps)\n"
    assert Path("loss.png").read_bytes().startswith(BEGINNINGS[".png"])
    assert main(["plot", "loss", "none.bin"]) == 1
    assert "none.bin: no such file" in capsys.readouterr().err
