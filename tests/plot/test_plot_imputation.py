"""The plot of imputed entities: which are shown, where, and which input is rejected."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from figures import assert_tidy, unwritten

from wordgeom.cli import main
from wordgeom.core.errors import InputError, MissingInputError
from wordgeom.core.types import Csr
from wordgeom.imputation.trust import Trust
from wordgeom.imputation.trust_table import trust_lines
from wordgeom.plot import colours, imputation
from wordgeom.plot.options import PlotOptions
from wordgeom.vectors.keyed import read_vectors, write_vectors

pytest.importorskip("matplotlib", reason="matplotlib is not installed: wordgeom[plot]")

N = 30


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """30 entities in a row, odd ones imputed from their two neighbours, .25 and .75."""
    monkeypatch.chdir(tmp_path)
    source = np.arange(N, dtype=np.uint8) % 2
    rows = [[] if k % 2 == 0 else [k - 1, min(k + 1, N - 2)][: 1 + (k < N - 1)] for k in range(N)]
    weights = [w for row in rows for w in ([1.0] if len(row) == 1 else [0.25, 0.75])[: len(row)]]
    indptr = np.concatenate(([0], np.cumsum([len(row) for row in rows])))
    indices = np.array([other for row in rows for other in row], np.int32)
    names = [f"e{k}" for k in range(N)]
    unit = np.where(source > 0, np.linspace(0, 1, N), np.nan)
    anchor = np.full(N, -1, np.int64)
    matrix = Csr(indptr.astype(np.int64), indices, np.array(weights), N)
    zeros = np.zeros(len(names), np.int32)
    trust = Trust(names, source, anchor, unit, unit, unit, matrix, zeros, zeros.astype(np.uint8))
    Path("vectors.imputed.tsv").write_bytes(b"".join(trust_lines(trust)))
    vectors = np.random.default_rng(0).standard_normal((N + 1, 6)).astype(np.float32)
    write_vectors("vectors.imputed.bin", ["the", *names], vectors)
    return tmp_path


def chart(labels: tuple[str, ...] = (), around: str | None = None) -> imputation.Chart:
    return imputation.read_chart("vectors.imputed.bin", None, labels, around)


def test_the_plane_preserves_distances_of_planar_points(folder):
    rows = np.random.default_rng(1).standard_normal((20, 2)) @ np.random.default_rng(2).random(
        (2, 9)
    )
    places = imputation._plane(rows, np.arange(20))
    apart = np.linalg.norm(rows[:, None] - rows, axis=2)
    assert np.linalg.norm(places[:, None] - places, axis=2) == pytest.approx(apart)
    assert np.var(places, axis=0)[0] >= np.var(places, axis=0)[1]


def test_the_plane_depends_on_the_fitted_rows_alone():
    rows = np.random.default_rng(1).standard_normal((20, 9))
    some = np.arange(3)  # three points lie in a plane
    places = imputation._plane(rows, some)
    apart = np.linalg.norm(rows[:3, None] - rows[:3], axis=2)
    assert np.linalg.norm(places[:3, None] - places[:3], axis=2) == pytest.approx(apart)
    others = np.vstack([rows[:3], 100 * rows[3:]])
    assert np.abs(imputation._plane(others, some)[:3]) == pytest.approx(np.abs(places[:3]))


def test_the_entities_best_supported_by_known_ones_are_named(folder):
    drawn = chart()
    assert len(drawn.names) == N
    assert drawn.known.tolist() == [k % 2 == 0 for k in range(N)]
    assert sorted(drawn.named.tolist()) == list(range(7, 30, 2))
    ends = {
        tuple(edge): weight
        for edge, weight in zip(drawn.edges.tolist(), drawn.weights, strict=True)
    }
    assert ends[1, 0] == pytest.approx(0.25)
    assert ends[1, 2] == pytest.approx(0.75)
    assert drawn.caption == "30 entities, 15 imputed"


def test_labels_are_those_that_are_asked_for(folder):
    drawn = chart(("e4", "e5"))
    assert [drawn.names[k] for k in drawn.named] == ["e4", "e5"]


def test_around_shows_two_steps_both_ways(folder):
    assert chart(around="e10").names == ["e8", "e9", "e10", "e11", "e12"]
    assert chart(around="e11").names == ["e9", "e10", "e11", "e12", "e13"]
    assert chart(around="e11").caption == "5 of 30 entities, 3 imputed"


def test_around_an_entity_it_and_its_own_neighbours_are_named(folder):
    for around, named in (("e10", ["e9", "e10", "e11"]), ("e11", ["e10", "e11", "e12"])):
        drawn = chart(around=around)
        assert [drawn.names[k] for k in drawn.named] == named
        assert drawn.centre is not None
        assert drawn.names[drawn.centre] == around
    drawn = chart(("e8",), around="e10")
    assert [drawn.names[k] for k in drawn.named] == ["e8", "e10"]
    with pytest.raises(InputError, match="'e20' is not near 'e10'; omit its --label"):
        chart(("e20",), around="e10")


def test_around_an_entity_that_nothing_depends_on_is_one_line(folder):
    table = Path("vectors.imputed.tsv")
    known = next(line for line in table.read_text().splitlines() if line.startswith("e0\t"))
    with table.open("a") as file:
        file.write(known.replace("e0", "alone", 1) + "\n")
    with pytest.raises(InputError, match="'alone' has no neighbours, and no imputed entity"):
        chart(around="alone")


@pytest.mark.parametrize("kept", ["no\u00ebl", "noe\u0308l"])
def test_an_entity_is_found_in_either_unicode_form(folder, kept):
    table = Path("vectors.imputed.tsv")
    lines = table.read_text(encoding="utf-8").replace("e10\t", f"{kept}\t")
    table.write_text(lines.replace("e10:", f"{kept}:"), encoding="utf-8")
    made = read_vectors("vectors.imputed.bin")
    words = [kept if word == "e10" else word for word in made.words]
    write_vectors("vectors.imputed.bin", words, made.matrix)
    for asked in ("no\u00ebl", "noe\u0308l"):
        assert chart(around=asked).names == ["e8", "e9", kept, "e11", "e12"]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    return unwritten(monkeypatch, imputation)


def weights(figure: Any) -> dict[str, str]:
    """Return the weights of the names in a plot."""
    return {text.get_text(): text.get_fontweight() for text in figure.axes[0].texts}


def test_names_do_not_overlap_and_omitted_ones_are_counted(folder, seen):
    drawn = chart(tuple(f"e{k}" for k in range(N)))
    near = np.random.default_rng(0).standard_normal((N, 2)) * 0.05
    crowded = replace(drawn, positions=np.vstack([near[:-1], [[9, 9]]]))
    caption = imputation.draw(crowded, "crowded.png", PlotOptions(size="3x3"))
    left = N - len(weights(seen[0]))
    assert 0 < left < N
    assert caption == f"{drawn.caption}, {left} names omitted for lack of room"
    assert_tidy(seen[0])


def test_the_central_entity_is_bold(folder, seen):
    assert imputation.draw(chart(around="e11"), "around.png") == "5 of 30 entities, 3 imputed"
    assert weights(seen[0]) == {"e11": "bold", "e10": "normal", "e12": "normal"}


def test_known_entities_that_support_the_named_ones_are_named(folder, seen):
    drawn = chart(("e5", "e7"))
    assert [drawn.names[k] for k in drawn.supports] == ["e6", "e8", "e4"]  # by their weights
    imputation.draw(drawn, "i.png")
    found = {text.get_text(): text.get_color() for text in seen[0].axes[0].texts}
    assert {name for name, colour in found.items() if colour == colours.BLUE} == {"e4", "e6", "e8"}
    keys = [text.get_text() for text in seen[0].legends[0].get_texts()]
    assert keys == ["known (15)", "imputed (15)"]


def test_entities_at_one_position_are_counted(folder, seen):
    drawn = replace(chart(), positions=np.zeros((N, 2)))
    caption = imputation.draw(drawn, "i.png")
    assert "29 entities are at the position of another" in caption


def test_vectors_without_a_table_are_told(folder):
    write_vectors("plain.bin", ["a"], np.ones((1, 3), np.float32))
    for name, part in (
        ("plain.bin", "no trust table beside it; create it with wordgeom impute, or name"),
        ("none.bin", "none.bin: no such file"),
    ):
        with pytest.raises(MissingInputError, match=part):
            imputation.read_chart(name, None, (), None)
    assert imputation.read_chart("vectors.imputed.bin", "vectors.imputed.tsv", (), None).names


def test_a_large_chart_is_sampled_with_its_named_entities(folder, monkeypatch):
    monkeypatch.setattr(imputation, "_MOST", 12)
    drawn = chart(("e21",))
    assert len(drawn.names) == 12
    assert {"e20", "e21", "e22"} <= set(drawn.names)
    assert drawn.caption.startswith("12 of 30 entities")


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_same_plot_has_the_same_bytes(folder, suffix):
    for name in ("one", "two"):
        assert main(["plot", "imputation", "-o", f"{name}{suffix}"]) == 0
    assert Path(f"one{suffix}").read_bytes() == Path(f"two{suffix}").read_bytes()


def test_the_caption_is_printed_and_an_existing_plot_kept(folder, capsys):
    assert main(["plot", "imputation", "--around", "e3"]) == 0
    assert capsys.readouterr().out == "imputation.png: 5 of 30 entities, 3 imputed\n"
    assert main(["plot", "imputation"]) == 1
    assert "imputation.png: exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("labels", "around", "part"),
    [(("e99",), None, "unknown entity 'e99'; did you mean"), ((), "e99", "names it gave")],
)
def test_an_unknown_entity_is_named(folder, labels, around, part):
    with pytest.raises(InputError, match=part):
        chart(labels, around)


def test_vectors_of_another_table_are_refused(folder):
    write_vectors("vectors.imputed.bin", ["e0"], np.ones((1, 3), np.float32))
    with pytest.raises(InputError, match=r"no vector for 'e1'; name the vectors"):
        chart()


def test_a_single_entity_is_drawn(folder):
    text = Path("vectors.imputed.tsv").read_text().splitlines()
    Path("vectors.imputed.tsv").write_text("\n".join(text[:2]) + "\n")
    drawn = chart()
    assert drawn.positions.tolist() == [[0, 0]]
    imputation.draw(drawn, "one.png")
    assert Path("one.png").stat().st_size
