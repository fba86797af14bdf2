"""Options of plots: title, size, resolution, caption, colours from a file, fonts."""

from __future__ import annotations

import logging
import re
import struct
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line
from figures import unwritten
from test_plot import ROWS, comparison, spectrum_of
from test_plot_volcano import results

from wordgeom.cli import main
from wordgeom.core.errors import InputError, OptionError, WordgeomError
from wordgeom.plot import colours, fonts, quality, spectrum, volcano
from wordgeom.plot.colours import read_colouring
from wordgeom.plot.options import ColourOptions, PlotOptions

pytest.importorskip("matplotlib", reason="matplotlib is not installed: wordgeom[plot]")


def pixels(path: Path) -> tuple[int, int]:
    """Return the width and height of a .png."""
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    return width, height


# ── Size, resolution, title, caption ──────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("size", "dpi", "expected"),
    [("8x6", 100, (800, 600)), ("8 × 6 in", 50, (400, 300)), ("25.4x12.7cm", 72, (720, 360)),
     (None, 100, (720, 350))],
)  # fmt: skip
def test_a_png_has_the_size_and_resolution(tmp_path, size, dpi, expected):
    spectrum.draw([spectrum_of("v", [2.0, 1.0])], tmp_path / "s.png", PlotOptions(None, size, dpi))
    assert pixels(tmp_path / "s.png") == expected


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"size": "0x3"}, "--size must be 2 to 100 inches (5.08 to 254 cm) in each direction"),
        ({"size": "1000x3"}, "found '1000x3'"),
        ({"size": "big"}, "--size must be width x height, such as 8x6 or 20x15cm, found 'big'"),
        ({"size": "8"}, "--size must be width x height"),
        ({"size": "-8x6"}, "--size must be width x height"),
        ({"size": "8x6px"}, "--size must be width x height"),
        ({"dpi": 10_000_000}, "--dpi must be between 30 and 2400, found 10000000"),
    ],
)
def test_invalid_options_are_one_line(given, part):
    with pytest.raises(OptionError) as caught:
        PlotOptions(**given)
    assert_one_line(caught, part)


def test_too_many_pixels_and_too_little_room_are_rejected(tmp_path):
    made = [spectrum_of("a file with a long name.bin", [2.0, 1.0])]
    cases = (
        (PlotOptions(size="50x50", dpi=2400), ("100,000,000 pixels", "found 14,400,000,000")),
        (PlotOptions(size="2x2"), ("the plot does not fit in 2 x 2 inches", "--size")),
    )
    for options, parts in cases:
        with pytest.raises(OptionError) as caught:
            spectrum.draw(made, tmp_path / "s.png", options)
        assert_one_line(caught, "s.png", *parts)
    assert not list(tmp_path.iterdir())
    spectrum.draw(made, tmp_path / "s.pdf", PlotOptions(size="50x50", dpi=2400))


def test_the_title_is_drawn_and_the_caption_left_out(tmp_path):
    whole, bare = tmp_path / "whole.svg", tmp_path / "bare.svg"
    volcano.draw(results(), whole, [], PlotOptions(title="Change & 5 $ <a>"))
    volcano.draw(results(), bare, [], PlotOptions(caption=False))
    assert "Change &amp; 5 $ &lt;a&gt;" in whole.read_text()
    assert "60 words, 20 with q" in whole.read_text()
    assert "60 words, 20 with q" not in bare.read_text()


def test_text_in_svg_and_pdf_is_text(tmp_path):
    quality.draw(comparison(*ROWS), tmp_path / "q.svg")
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", (tmp_path / "q.svg").read_text())
    assert {"gbu", "sgns", "bars: 95 % intervals"} <= set(texts)
    quality.draw(comparison(*ROWS[:2]), tmp_path / "q.pdf")
    content = (tmp_path / "q.pdf").read_bytes()
    assert b"/Type3" not in content
    assert b"/CIDFontType2" in content


def test_flags_reach_the_plot(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("drift.json").write_text(
        '{"words": [{"word": "a", "displacement": 1, "p": 0.1, "q": 0.1},'
        ' {"word": "b", "displacement": 2, "p": 0.2, "q": 0.2}]}'
    )
    Path("groups.tsv").write_text("a\tone\nb\ttwo\n")
    asked = ["--title", "Change", "--size", "20x15cm", "--dpi", "60", "--no-caption"]
    draw = ["plot", "drift", "drift.json", "--colour-by", "groups.tsv", *asked]
    assert main([*draw, "-o", "v.svg"]) == 0
    written = Path("v.svg").read_text()
    assert all(f">{name}<" in written for name in ("Change", "one (1)", "two (1)"))
    assert main([*draw, "-o", "v.png"]) == 0
    assert pixels(Path("v.png")) == (472, 354)
    capsys.readouterr()
    assert main([*draw, "--size", "0x3", "-o", "w.png"]) == 2
    assert main(["compare", "--title", "x"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "--title applies to a plot; add --picture FILE" in lines[1]


# ── Colours ───────────────────────────────────────────────────────────────────────────────

# Machado, Oliveira and Fernandes (2009), severity 1: deuteranopia and protanopia.
_DEFICIENCIES = (
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
     [-0.011820, 0.042940, 0.968881]],
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
     [-0.003882, -0.048116, 1.051998]],
)  # fmt: skip


@pytest.mark.parametrize("matrix", _DEFICIENCIES, ids=["deuteranopia", "protanopia"])
def test_colours_differ_for_colour_blind_readers(matrix):
    from matplotlib.colors import to_rgb

    def linear(colour: str) -> Any:
        rgb = np.array(to_rgb(colour))
        return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)

    seen = [np.clip(np.array(matrix) @ linear(colour), 0, 1) for colour in colours.OKABE_ITO]
    gamma = [one ** (1 / 2.4) for one in seen]
    assert min(np.linalg.norm(one - two) for one, two in combinations(gamma, 2)) > 0.1


def coloured(tmp_path: Path, content: str | bytes, name: str = "groups.tsv") -> Any:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_colouring(path)


def test_categories_and_numbers_are_read(tmp_path):
    groups = coloured(
        tmp_path, "\ufeffa\tone\r\ncafe\u0301\ttwo\r\n\r\nb\tone\r\na\tone\r\nc\t\r\n"
    )
    assert groups.categories == ("one", "two")
    assert [groups.value(word) for word in ("a", "caf\u00e9", "c", "d")] == [
        "one",
        "two",
        None,
        None,
    ]
    numbers = coloured(tmp_path, "word,score\na,-1.5\nb,2e3\n", "n.csv")
    assert numbers.categories == ()
    assert [numbers.value(word) for word in ("a", "b", "word")] == [-1.5, 2000, None]


def test_a_header_is_no_word(tmp_path):
    groups = coloured(tmp_path, "word\tclass\na\tone\nword\ttwo\nb\tone\n")
    assert groups.categories == ("one", "two")
    assert groups.value("word") == "two"
    lengths = coloured(tmp_path, "word\tlength\na\t1\nword\t4\n")
    assert [lengths.value(word) for word in ("a", "word")] == [1, 4]
    words = coloured(tmp_path, "word\tone\na\tone\n")  # no name of a column
    assert words.value("word") == "one"


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("a one\n", ("line 1", "expected two fields, found 1", "a tab")),
        ("a\tone\n\tone\n", ("line 2", "the word is empty", "remove the line")),
        ("a\tone\nb\tone\ttwo\n", ("line 2", "expected two fields, found 3")),
        ("a\tone\na\ttwo\n", ("line 2", "'a' is 'two' here and 'one' in line 1")),
        ("a\t1\nb\t2\nc\tn/a\nd\t4\n", ("line 3", "most values are numbers", "found 'n/a'")),
        ("".join(f"w{k}\tg{k}\n" for k in range(65)), ("at most 64 categories", "found 65")),
        ("", ("is empty",)),
    ],
)
def test_broken_files_are_one_line(tmp_path, content, parts):
    with pytest.raises(WordgeomError) as caught:
        coloured(tmp_path, content)
    assert_one_line(caught, "groups.tsv", *parts)


def test_words_without_a_category_are_grey_and_counted(tmp_path, monkeypatch):
    path = tmp_path / "groups.tsv"
    path.write_text("".join(f"w{k}\tgroup {k % 10}\n" for k in range(40)))
    figures = unwritten(monkeypatch, volcano)
    caption = volcano.draw(results(), "v.png", [], None, ColourOptions(colour_by=str(path)))
    assert "20 not in groups.tsv (grey)" in caption
    keys = [text.get_text() for text in figures[0].legends[1].get_texts()]
    assert keys == [*(f"group {k} (4)" for k in range(10)), "not in the file (20)"]
    looks = {(line.get_color(), line.get_marker()) for line in figures[0].legends[1].get_lines()}
    assert len(looks) == 11
    path.write_text("other\tgroup\n")
    with pytest.raises(InputError, match=r"groups\.tsv: none of its words is in the plot"):
        volcano.draw(results(), "v.png", [], None, ColourOptions(colour_by=str(path)))


def test_numbers_have_a_colour_bar(tmp_path, monkeypatch):
    path = tmp_path / "scores.tsv"
    path.write_text("".join(f"w{k}\t{k - 30}\n" for k in range(60)))
    figures = unwritten(monkeypatch, volcano)
    volcano.draw(results(), "v.png", [], None, ColourOptions(colour_by=str(path)))
    _, bar = figures[0].axes
    assert bar.get_ylabel() == "scores.tsv"
    assert bar.get_ylim() == (-30, 29)


# ── Fonts ─────────────────────────────────────────────────────────────────────────────────


def test_missing_characters_are_noted(monkeypatch, caplog):
    monkeypatch.setattr(fonts, "_others", list)
    with caplog.at_level(logging.WARNING, logger="wordgeom"):
        assert fonts.font_families(["plain", "Ελληνικά"]) == ["DejaVu Sans"]
        assert not caplog.records
        fonts.font_families(["한국", "a\U000f0000"])
    (record,) = caplog.records
    assert "no font has 2 characters (국 한), drawn as boxes" in record.getMessage()


def test_fonts_of_the_machine_are_used(monkeypatch, caplog):
    has = {"DejaVu Sans": set(map(ord, "ab")), "Serif CJK": set(map(ord, "한中")), "X": {0x56FD}}
    monkeypatch.setattr(fonts, "_others", lambda: ["X", "Serif CJK"])
    monkeypatch.setattr(fonts, "_characters", has.__getitem__)
    assert fonts.font_families(["a中"]) == ["DejaVu Sans", "Serif CJK"]
    assert fonts.font_families(["ab"]) == ["DejaVu Sans"]
    assert not caplog.records
