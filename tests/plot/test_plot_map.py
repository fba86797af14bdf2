"""Maps of words: which words, where, their labels and colours; pages; errors of one line."""

from __future__ import annotations

import base64
import html
import html.parser
import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line
from figures import assert_tidy, unwritten

from wordgeom.cli import main
from wordgeom.core.errors import InputError, MissingInputError
from wordgeom.plot import fonts
from wordgeom.plot.map import page, picture
from wordgeom.plot.map.near import near_words, packed
from wordgeom.plot.map.options import MapOptions
from wordgeom.plot.map.words import WordMap, read_map
from wordgeom.plot.options import ColourOptions
from wordgeom.vectors.keyed import write_vectors
from wordgeom.vectors.run_card import card_path, file_content

PLAIN = ColourOptions()
TEXT = """
river king software lake queen computer ocean prince program sea throne code bay duke data
coast crown system island palace byte harbour royal disk canal empire server stream castle web
"""
WORDS = TEXT.split()
TOPICS = {name: WORDS[k::3] for k, name in enumerate(("water", "court", "code"))}


def topic_vectors(dim: int) -> tuple[list[str], Any]:
    """Return words of three topics, and vectors (30 × dim) near the topic's axis."""
    words = list(WORDS)
    rng = np.random.default_rng(0)
    centres = np.eye(3, dim) * 4 if dim > 2 else np.array([[0, 0], [9, 0], [4, 8]])
    matrix = centres[np.arange(len(words)) % 3] + rng.standard_normal((len(words), dim))
    return words, matrix.astype(np.float32)


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A directory with topics in 2 and 20 dimensions."""
    monkeypatch.chdir(tmp_path)
    write_vectors("flat.bin", *topic_vectors(2))
    write_vectors("deep.bin", *topic_vectors(20))
    return tmp_path


def scattered(n: int, seed: int = 0) -> tuple[list[str], Any]:
    """Return n words of real lengths, and random positions."""
    rng = np.random.default_rng(seed)
    letters = np.array(list("aeiouybcdfghklmnprstvz"))
    words = ["".join(rng.choice(letters, rng.integers(2, 14))) + str(k) for k in range(n)]
    return words, rng.standard_normal((n, 2)).astype(np.float32)


def chart_of(
    path: str | Path, most: int = 2000, colours: ColourOptions = PLAIN, **options: Any
) -> WordMap:
    return read_map(path, MapOptions(**options), colours, most)


def content(raw: bytes) -> dict[str, Any]:
    """Return the data of a page."""
    found = re.search(rb'<script type="application/json" id="data">(.*?)</script>', raw, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def array(text: str, dtype: str) -> Any:
    return np.frombuffer(base64.b64decode(text), dtype)


def unpacked(near: dict[str, Any], n: int) -> Any:
    """Return the rows of neighbours (n × k) of a page."""
    bits = np.unpackbits(array(near["rows"], "u1"))[: n * near["k"] * near["bits"]]
    return (bits.reshape(-1, near["bits"]) @ (1 << np.arange(near["bits"])[::-1])).reshape(n, -1)


# ── Which words, and where ────────────────────────────────────────────────────────────────


def test_two_columns_are_the_positions_and_more_are_reduced_to_principal_components(here):
    words, matrix = topic_vectors(2)
    flat = chart_of("flat.bin")
    assert (flat.words, flat.notes) == (words, [])
    np.testing.assert_array_equal(flat.positions, matrix)
    deep = chart_of("deep.bin")
    unit = topic_vectors(20)[1].astype(float)
    unit /= np.linalg.norm(unit, axis=1)[:, None]
    left, values, _ = np.linalg.svd(unit - unit.mean(axis=0), full_matrices=False)
    expected = left[:, :2] * values[:2]
    np.testing.assert_allclose(np.abs(deep.positions), np.abs(expected), atol=1e-6)
    share = (values[:2] ** 2).sum() / (values**2).sum()
    assert deep.notes == ["deep.bin has 20 dimensions: the map shows the first two principal "
                          f"components, {share:.0%} of the variance"]  # fmt: skip


def test_top_takes_the_first_words_and_words_are_drawn_in_their_order(here):
    Path("list.txt").write_text("\ufeffqueen\r\nlake\r\nunknown\r\nbyte\r\nqueen\r\n", "utf-8")
    assert chart_of("flat.bin", top=5).words == topic_vectors(2)[0][:5]
    chosen = chart_of("flat.bin", words="queen,lake, byte")
    assert (chosen.words, chosen.named) == (["queen", "lake", "byte"], 3)
    listed = chart_of("flat.bin", words="list.txt")
    assert listed.words == ["queen", "lake", "byte"]
    assert listed.notes == ["1 of 4 words of --words is not in flat.bin: unknown"]
    both = chart_of("flat.bin", words="queen,web", top=4)
    assert both.words == ["queen", "web", "river", "king", "software", "lake"]
    assert both.named == 2


def test_an_array_with_its_words_is_a_map(here):
    words, matrix = topic_vectors(2)
    np.save("points.npy", matrix.astype(np.float64))
    Path("points.words.txt").write_text("\n".join(words) + "\n")
    np.testing.assert_array_equal(chart_of("points.npy").positions, matrix)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"words": "river,king"}, ("flat.bin", "a map needs 3 words or more, found 2")),
        ({"words": "river,kin,lace,web,x1,x2,x3,x4"},
         ("6 of 8 words of --words are not in flat.bin: kin, lace, x1, x2, x3, …", "did you mean")),
        ({"words": "few.txt"},
         ("2 of 4 words of --words are not in flat.bin: a1, a2; a map needs",)),
        ({"reference": "short.bin"}, ("short.bin: lacks 27 of the 30 words", "--words")),
    ],
)  # fmt: skip
def test_words_that_cannot_be_drawn_are_one_line(here, options, parts):
    Path("few.txt").write_text("river\na1\na2\nking\n")
    words, matrix = topic_vectors(20)
    write_vectors("short.bin", words[:3], matrix[:3])
    with pytest.raises(InputError) as caught:
        chart_of("flat.bin", **options)
    assert_one_line(caught, *parts)
    with pytest.raises(MissingInputError) as missing:
        chart_of("flat.bin", words="lists/none.txt")
    assert_one_line(missing, "lists/none.txt: no such file", "--words")


@pytest.mark.parametrize(
    ("matrix", "parts"),
    [
        (np.ones((4, 1)), ("a map needs 2 dimensions or more, found 1", "--dim")),
        (np.ones((4, 2)), ("all 4 words have the same coordinates",)),
        (np.full((4, 9), -3e3), ("all 4 words have the same coordinates",)),
        (np.zeros((4, 5)), ("all 4 words have the same coordinates",)),
        (np.outer([0.3, 1.7, 2.9, 77], [1, 2, 3]), ("all 4 words have the same coordinates",)),
        ([[1, 2], [3, np.nan], [5, 6], [np.inf, 1]],
         ("2 vectors contain NaN or infinity (first: 'b')", "--drop-nan")),
        (np.ones((2, 2)), ("a map needs 3 words or more, found 2",)),
    ],
)  # fmt: skip
def test_vectors_that_make_no_map_are_one_line(here, matrix, parts):
    write_vectors("bad.bin", list("abcd")[: len(matrix)], np.asarray(matrix, np.float32))
    with pytest.raises(InputError) as caught:
        chart_of("bad.bin")
    assert_one_line(caught, "bad.bin", *parts)


def test_words_at_one_position_are_counted(here):
    words, matrix = topic_vectors(2)
    matrix[3:5] = matrix[0]
    write_vectors("same.bin", words, matrix)
    assert chart_of("same.bin").caption.endswith("2 words are at the position of another")


# ── Colours ───────────────────────────────────────────────────────────────────────────────


def test_clusters_are_those_of_the_original_vectors(here):
    words, matrix = topic_vectors(2)
    write_vectors("shuffled.bin", words, matrix[np.random.default_rng(1).permutation(30)])
    colouring = chart_of("shuffled.bin", reference="deep.bin", clusters=3).colouring
    assert colouring is not None
    groups = {
        name: {w for w in words if colouring.value(w) == name} for name in colouring.categories
    }
    assert sorted(map(sorted, groups.values())) == sorted(map(sorted, TOPICS.values()))
    assert all(set(name.split(", ")) <= group for name, group in groups.items())
    assert colouring.name == "3 clusters of deep.bin"
    assert chart_of("flat.bin", clusters=0).colouring is None


def test_more_clusters_than_distinct_vectors_become_fewer(here):
    write_vectors("two.bin", list("abcdef"), np.repeat(np.eye(2, 3, dtype=np.float32), 3, axis=0))
    colouring = chart_of("two.bin", clusters=5).colouring
    assert colouring is not None
    assert len(colouring.categories) == 2


def test_imputed_entities_are_drawn_first_and_coloured_by_their_source(here, capsys):
    rng = np.random.default_rng(2)
    names = [f"firm{k}" for k in range(30)]
    table = rng.standard_normal((30, 4))
    lines = [f"{name}," + ",".join(map(str, row)) for name, row in zip(names, table, strict=True)]
    Path("firms.csv").write_text("name,a,b,c,d\n" + "\n".join(lines) + "\n")
    others = [f"word{k}" for k in range(60)]
    known = rng.standard_normal((72, 6)).astype(np.float32)
    write_vectors("known.bin", [*others, *names[:12]], known)
    impute = ["impute", "--domain", "firms.csv", "--vectors", "known.bin", "-o", "made.bin"]
    assert main(impute) == 0
    chart = chart_of("made.bin", top=40)
    assert chart.words == [*names, *others[:10]]
    assert chart.colouring is not None
    kinds = [chart.colouring.value(word) for word in chart.words]
    assert kinds == ["known"] * 12 + ["imputed"] * 18 + [None] * 10
    assert main(["plot", "map", "made.bin", "-o", "made.html", "--top", "40"]) == 0
    column = content(Path("made.html").read_bytes())["colour"]
    assert (column["name"], column["categories"]) == ("made.tsv", ["known", "imputed"])
    assert array(column["codes"], "u1").tolist() == [0] * 12 + [1] * 18 + [255] * 10
    changed = chart_of("made.bin", clusters=2).colouring
    assert changed is not None
    assert changed.name == "2 clusters of made.bin"
    Path("made.tsv").unlink()
    assert "the trust table made.tsv has changed or is not beside" in chart_of("made.bin").notes[0]


def test_a_run_card_leads_to_no_file_of_another_directory(here):
    Path("inside").mkdir()
    write_vectors("inside/v.bin", *topic_vectors(2))
    Path("secret.tsv").write_text("entity\tsource\n")
    for name in ("../secret.tsv", str(Path("secret.tsv").resolve()), "..", ""):
        card = {"request": {"command": "impute"}, "content": file_content(Path("inside/v.bin")),
                "beside": {name: file_content(Path("secret.tsv"))}}  # fmt: skip
        card_path(Path("inside/v.bin")).write_text(json.dumps(card))
        chart = chart_of("inside/v.bin")
        assert "has changed or is not beside v.bin" in chart.notes[0]


# ── The picture ───────────────────────────────────────────────────────────────────────────

needs_matplotlib = pytest.mark.usefixtures("matplotlib")


@pytest.fixture
def matplotlib():
    """Skip without matplotlib."""
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: wordgeom[plot]")


@needs_matplotlib
@pytest.mark.parametrize("n", [3, 40, 1500])
def test_labels_never_overlap(here, monkeypatch, n):
    write_vectors("random.bin", *scattered(n))
    figures = unwritten(monkeypatch, picture)
    picture.draw(chart_of("random.bin"), "random.png")
    labels = [text.get_text() for text in figures[0].axes[0].texts]
    assert len(labels) >= min(n, 60)
    assert_tidy(figures[0])


@needs_matplotlib
def test_chosen_words_are_labelled_among_many(here, monkeypatch):
    words, matrix = scattered(1500)
    write_vectors("random.bin", words, matrix)
    chosen = words[1100:1120]
    figures = unwritten(monkeypatch, picture)
    picture.draw(chart_of("random.bin", words=",".join(chosen), top=1500), "random.png")
    bold = {t.get_text() for t in figures[0].axes[0].texts if t.get_fontweight() == "bold"}
    assert bold == set(chosen)
    assert_tidy(figures[0])


@needs_matplotlib
@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_same_map_has_the_same_bytes(here, suffix):
    for name in ("one", "two"):
        assert main(["plot", "map", "deep.bin", "-o", name + suffix]) == 0
    assert Path(f"one{suffix}").read_bytes() == Path(f"two{suffix}").read_bytes()


@needs_matplotlib
def test_a_file_gives_colours_and_options_of_plots_apply(here, capsys):
    lines = [f"{word}\t{topic}" for topic, words in TOPICS.items() for word in words[:9]]
    Path("topics.tsv").write_text("\n".join(lines) + "\n")
    asked = ["--colour-by", "topics.tsv", "--title", "Topics", "--size", "6x5"]
    assert main(["plot", "map", "flat.bin", "-o", "map.svg", *asked]) == 0
    said = "30 words of flat.bin, colours: topics.tsv, 3 not in topics.tsv (grey)"
    assert capsys.readouterr().out == f"map.svg: {said}\n"
    texts = set(re.findall(r"<text[^>]*>([^<]*)</text>", Path("map.svg").read_text()))
    assert {"Topics", "water (9)", "court (9)", "code (9)", "not in the file (3)", said} <= texts
    assert texts & set(TOPICS["water"])


@needs_matplotlib
def test_words_without_a_font_are_labelled_by_code_points_and_counted(here, monkeypatch, caplog):
    monkeypatch.setattr(fonts, "_others", list)
    words = ["river", "\ua66e\ua66eꙮx", "한국", "\u0628\u062d\u0631", "lake", "$x^2$"]
    write_vectors("scripts.bin", words, scattered(6)[1])
    figures = unwritten(monkeypatch, picture)
    with caplog.at_level("WARNING"):
        picture.draw(chart_of("scripts.bin", clusters=0), "scripts.png")
    labels = {text.get_text() for text in figures[0].axes[0].texts}
    assert {"river", "lake", "$x^2$", "U+D55C U+AD6D"} <= labels
    picture.draw(chart_of("scripts.bin", clusters=6), "scripts.png")
    legend = {text.get_text() for text in figures[1].legends[0].get_texts()}
    assert {"U+D55C U+AD6D (1)", "lake (1)"} <= legend
    assert "drawn as boxes" not in caplog.text
    lost = [word for word in words if fonts.lacking_characters([word])]
    assert f"{len(lost)} label" in caplog.text
    assert "Noto Sans" in caplog.text


# ── The page ──────────────────────────────────────────────────────────────────────────────


def test_the_page_holds_words_positions_and_neighbours(here):
    chart = chart_of("flat.bin", reference="deep.bin", clusters=3)
    raw = page.page(chart, near_words(chart.space))
    data = content(raw)
    words, matrix = topic_vectors(2)
    assert data["words"].split("\n") == words
    places = array(data["places"], "<u2").reshape(2, -1).T / 65535
    extent = np.ptp(matrix, axis=0).max()
    wide = places * extent
    np.testing.assert_allclose(wide - wide.mean(0), matrix - matrix.mean(0), atol=extent / 60000)
    unit = topic_vectors(20)[1].astype(float)
    unit /= np.linalg.norm(unit, axis=1)[:, None]
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -9)
    expected = np.argsort(-cosines, axis=1, kind="stable")[:, :10]
    np.testing.assert_array_equal(unpacked(data["near"], 30), expected)
    steps = array(data["near"]["values"], "u1").reshape(30, 10) / 127.5 - 1
    np.testing.assert_allclose(steps, np.take_along_axis(cosines, expected, 1), atol=0.005)
    assert data["measure"] == "Nearest in deep.bin, by cosine"
    assert page.page(chart, near_words(chart.space)) == raw


def test_zero_vectors_have_no_neighbours_and_are_none(here):
    words, matrix = topic_vectors(20)
    matrix[4] = 0
    write_vectors("zero.bin", words, matrix)
    chart = chart_of("zero.bin")
    assert chart.notes[0] == f"zero.bin: 1 zero vector: {words[4]}"
    rows = near_words(chart.space).rows
    assert (rows[4] == 30).all()
    assert 4 not in np.delete(rows, 4, axis=0)
    write_vectors("three.bin", list("abc"), matrix[:3])
    assert near_words(chart_of("three.bin").space).rows.shape == (3, 2)


@pytest.mark.parametrize("bits", [1, 3, 8, 17, 24])
def test_packed_numbers_are_read_back(bits):
    rows = np.random.default_rng(bits).integers(0, 2**bits, (7, 5))
    near = {"rows": base64.b64encode(packed(rows, bits)).decode(), "k": 5, "bits": bits}
    np.testing.assert_array_equal(unpacked(near, 7), rows)


def test_numbers_of_a_file_reach_the_page(here):
    Path("counts.tsv").write_text("word\tcount\nriver\t10\nking\t-2.5\nweb\t1e6\n")
    chart = chart_of("flat.bin", colours=ColourOptions(colour_by="counts.tsv"))
    column = content(page.page(chart, near_words(chart.space)))["colour"]
    values = dict(zip(chart.words, array(column["values"], "<f4").tolist(), strict=True))
    assert (values["river"], values["king"], column["low"], column["high"]) == (10, -2.5, -2.5, 1e6)
    assert np.isnan(values["lake"])
    Path("others.tsv").write_text("x\ta\ny\tb\n")
    with pytest.raises(InputError) as caught:
        page.draw(chart_of("flat.bin", colours=ColourOptions(colour_by="others.tsv")), "m.html")
    assert_one_line(caught, "others.tsv", "none of its words is in the plot")
    assert not Path("m.html").exists()


HOSTILE = "</script><img/src=x/onerror=alert(1)>"


class _Elements(html.parser.HTMLParser):
    """The elements of a page, their attributes, and the text of the title."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.loaded: list[str] = []
        self.title = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loaded += [f"{tag} {n}" for n, _ in attrs if n in ("src", "href", "srcset", "data")]

    def handle_data(self, data: str) -> None:
        self.title += data if self.tags[-1:] == ["title"] else ""


def test_no_word_value_or_title_becomes_html(here):
    words, matrix = topic_vectors(2)
    plain = chart_of("flat.bin", clusters=2)
    empty = _Elements(page.page(plain, near_words(plain.space), "T").decode())
    words[:5] = [HOSTILE, "<!--", "]]>", "&lt;b&gt;", "{{data}}\u2028\u202e"[:8]]
    write_vectors("hostile.bin", words, matrix)
    values = [f"{word}\t{HOSTILE} {k % 3}" for k, word in enumerate(words)]
    Path("hostile.tsv").write_text("\n".join(values) + "\n")
    chart = chart_of("hostile.bin", colours=ColourOptions(colour_by="hostile.tsv"))
    raw = page.page(chart, near_words(chart.space), f"{HOSTILE}{{{{data}}}}")
    found = _Elements(raw.decode())
    assert found.tags == empty.tags
    assert found.loaded == []
    assert found.title.startswith(HOSTILE)
    assert content(raw)["words"].split("\n") == words
    assert b"<img" not in raw
    assert raw.count(b"</script>") == empty.tags.count("script")


def test_words_in_any_script_survive(here):
    words, matrix = topic_vectors(2)
    words[:6] = ["한국", unicodedata.normalize("NFD", "é"), "é", "سمك", "🐟", "a\u0000b"]
    write_vectors("scripts.bin", words, matrix)
    chart = chart_of("scripts.bin")
    assert content(page.page(chart, near_words(chart.space)))["words"].split("\n") == words


def test_the_page_loads_nothing(here):
    asset = Path(page.__file__).parents[1] / "assets"
    text = (asset / "map.html").read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert policy[1].startswith("default-src 'none';")
    assert _Elements(text).loaded == []
    licences = (asset / "LICENCES.txt").read_text("utf-8")
    for name in ("regl-scatterplot", "regl", "kdbush", "gl-matrix", "dom-2d-camera", "earcut"):
        assert re.search(rf"^{name} \d", licences, re.MULTILINE)
        assert re.search(
            rf"^{name} \d", text[text.index("<pre>") :].replace("<pre>", ""), re.MULTILINE
        )


def test_a_page_of_an_encyclopaedia_s_vocabulary_is_under_5_mb(here):
    n = 67_893
    rng = np.random.default_rng(0)
    lengths = rng.poisson(6.2, n) + 2
    words = ["".join(map(chr, rng.integers(97, 123, length))) for length in lengths]
    words = [f"{word[:-2]}{k:x}" for k, word in enumerate(words)]
    write_vectors("large.bin", words, rng.standard_normal((n, 2)).astype(np.float32))
    chart = chart_of("large.bin", 100_000, clusters=0)
    assert len(chart.words) == n
    from wordgeom.plot.map.near import Near

    near = Near(rng.integers(0, n, (n, 10)), rng.random((n, 10)), 1.0)
    assert len(page.page(chart, near)) < 5_000_000


# ── The command ───────────────────────────────────────────────────────────────────────────


def test_outputs_are_protected_and_options_of_pictures_rejected(here, capsys, monkeypatch):
    draw = ["plot", "map", "flat.bin"]
    assert main([*draw, "-o", "map.html", "--title", "A map"]) == 0
    assert re.fullmatch(r"map\.html: 30 words of flat\.bin, 2\d\d KB\n", capsys.readouterr().out)
    assert "<title>A map</title>" in Path("map.html").read_text("utf-8")
    before = Path("map.html").read_bytes()
    cases = [
        (["-o", "map.html"], "map.html: exists; pass --force"),
        (["-o", "map.htm"], "plots are .png, .svg, .pdf or .html files"),
        (["-o", "m.html", "--dpi", "70"], "m.html: --dpi applies to pictures, not to a page"),
        (["-o", "m.html", "--no-caption"], "--no-caption applies to pictures"),
        (["-o", "flat.bin.html/m.html"], "no such directory"),
        (["-o", "m.html", "--clusters", "3", "--colour-by", "x.tsv"], "exclude each other"),
        (["-o", "m.html", "--top", "2"], "--top must be at least 3"),
    ]
    for given, part in cases:
        assert main([*draw, *given]) != 0
        (line,) = capsys.readouterr().err.splitlines()
        assert part in line
    assert Path("map.html").read_bytes() == before
    assert main([*draw, "-o", "map.html", "--force"]) == 0


def test_vectors_that_are_not_drawn_are_noted_where_they_are_not_finite(here):
    words, matrix = topic_vectors(2)
    matrix[20] = np.nan
    write_vectors("part.bin", words, matrix)
    assert chart_of("part.bin", top=10).notes == [
        f"part.bin: the vector of {words[20]!r} contains NaN or infinity; "
        "drop such vectors with wordgeom convert --drop-nan"
    ]


def test_run_draws_a_map_and_draws_it_again_after_a_change(here, capsys):
    table = '[plot]\nkind = "map"\nvectors = "flat.bin"\nreference = "deep.bin"\n'
    table += 'words = ["queen", "lake", "byte", "web"]\nout = "map.html"\n'
    Path("run.toml").write_text(table)
    for said in ("map.html: 4 of 30 words of flat.bin, 2", "map.html: up to date"):
        assert main(["run", "run.toml"]) == 0
        assert capsys.readouterr().out.startswith(said)
    words, matrix = topic_vectors(20)
    write_vectors("deep.bin", words, -matrix[::-1])
    assert main(["run", "run.toml"]) == 0
    assert "map.html: 4 of 30 words" in capsys.readouterr().out


def test_a_page_needs_no_matplotlib(here, monkeypatch, capsys):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["plot", "map", "deep.bin", "-o", "map.html"]) == 0
    assert main(["plot", "map", "deep.bin", "-o", "map.png"]) == 1
    assert "wordgeom[plot]" in capsys.readouterr().err.splitlines()[-1]
