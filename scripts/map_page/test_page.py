"""The page of maps in headless Chromium: what search, click, keys and zoom change.

Run by scripts/map_page/test. Skipped where Chromium is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromium import Page, find_chromium

from wordgeom.cli import main
from wordgeom.vectors.keyed import write_vectors

pytestmark = pytest.mark.skipif(
    find_chromium() is None, reason="Chromium is not installed (Debian: apt install chromium)"
)
HOSTILE = "</script><img/src=x/onerror=document.title='broken'>"
_SLOWEST = 250.0  # milliseconds of a frame, above which something is wrong on any machine


def drawn(folder: Path, n: int, *options: str) -> str:
    """Write a page of n words around six centres, return its address."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((6, 2)) * 8
    words = [f"{chr(97 + k % 26)}word{k}" for k in range(n - 2)]
    words[1:1] = [HOSTILE, "Ødegård"]
    places = centres[np.arange(n) % 6] + rng.standard_normal((n, 2))
    write_vectors(folder / "map.bin", words, places.astype(np.float32))
    out = folder / "map.html"
    assert main(["plot", "map", str(folder / "map.bin"), "-o", str(out), "--force", *options]) == 0
    return out.as_uri()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page of 3,000 words."""
    folder = tmp_path_factory.mktemp("map")
    values = [f"aword{26 * k}\t{HOSTILE}" for k in range(100)] + ["bword1\tplain"]
    (folder / "values.tsv").write_text("\n".join(values) + "\n")
    return drawn(folder, 3000, "--colour-by", str(folder / "values.tsv"), "--title", HOSTILE)


@pytest.fixture
def page(address: str) -> Iterator[Page]:
    """The page, opened."""
    with opened(address) as shown:
        yield shown


def opened(address: str) -> Page:
    shown = Page(find_chromium() or "", address)
    shown.wait("typeof wordMap === 'object' && document.readyState === 'complete'")
    shown.run("wordMap.ready")
    shown.wait("wordMap.labels().length > 0")
    return shown


def text(page: Page, element: str) -> str:
    return str(page.run(f"document.getElementById('{element}').textContent"))


def still(page: Page) -> dict[str, Any]:
    """Return the view once it no longer moves."""
    page.run("""(async () => {
        for (let old = '', same = 0; same < 5;) {
            await new Promise(requestAnimationFrame);
            const now = JSON.stringify(wordMap.view());
            same = now === old ? same + 1 : 0;
            old = now;
        }
    })()""")
    return dict(page.run("wordMap.view()"))


def write(page: Page, query: str) -> None:
    for letter in query:
        page.press(letter, letter)


def on_screen(page: Page, word: str) -> tuple[float, float]:
    """Return the place of a word in the window."""
    x, y = page.run(f"wordMap.screen({word!r})")
    box = page.run("(({left, top}) => [left, top])(document.getElementById('map')"
                   ".getBoundingClientRect())")  # fmt: skip
    return x + box[0], y + box[1]


def test_search_completes_and_shows_the_word(page: Page) -> None:
    before = still(page)
    page.press("/", "/")
    write(page, "WORD29")
    page.wait("!document.getElementById('matches').hidden")
    matches = page.run("[...document.querySelectorAll('#matches li')].map(e => e.textContent)")
    assert len(matches) == 12
    assert all("word29" in match for match in matches)
    page.press("ArrowDown")
    page.press("Enter")
    assert text(page, "name") == matches[1]
    after = still(page)
    assert after["distance"] < before["distance"] / 4
    assert matches[1] in page.run("wordMap.labels()")
    x, y = on_screen(page, matches[1])
    assert 0 < x < 1000
    assert 0 < y < 800


def test_a_search_without_result_says_so(page: Page) -> None:
    page.press("/", "/")
    write(page, "zzzz")
    assert "no word" in text(page, "matches")
    page.press("Enter")
    assert page.run("wordMap.state.selected") == -1
    page.press("Escape")
    assert page.run("document.getElementById('matches').hidden")


def test_a_click_shows_neighbours_and_a_click_on_one_goes_there(page: Page) -> None:
    still(page)
    x, y = on_screen(page, "iword8")
    page.mouse("mouseMoved", x, y)
    page.wait("!document.getElementById('tip').hidden")
    page.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
    page.mouse("mouseReleased", x, y, button="left", clickCount=1)
    page.wait("wordMap.state.selected >= 0")
    first = text(page, "name")
    assert text(page, "tip").startswith(first)
    assert page.run("document.querySelectorAll('#neighbours li').length") == 10
    other = str(page.run("document.querySelector('#neighbours button span').textContent"))
    page.run("document.querySelector('#neighbours button').click()")
    assert text(page, "name") == other != first
    page.press("Escape")
    assert page.run("document.getElementById('word').hidden")


def test_zoom_brings_other_labels(page: Page) -> None:
    before, labels = still(page), set(page.run("wordMap.labels()"))
    x, y = on_screen(page, "iword8")
    page.mouse("mouseMoved", x, y)
    for _ in range(8):
        page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-240)
    after = still(page)
    assert after["distance"] < before["distance"] / 2
    closer = set(page.run("wordMap.labels()"))
    assert len(closer - labels) > 10
    page.press("0", "0")
    again = still(page)
    assert again["distance"] == pytest.approx(before["distance"])
    assert again["centre"] == pytest.approx(before["centre"], abs=1e-6)
    hovered = 3  # the word under the mouse has a label, which may replace others
    assert len(labels - set(page.run("wordMap.labels()"))) <= hovered


def test_keys_move_the_map_and_choose_its_centre(page: Page) -> None:
    page.run("document.getElementById('map').focus()")
    before = still(page)
    page.press("+", "+")
    closer = still(page)
    assert closer["distance"] == pytest.approx(before["distance"] / 1.5, rel=1e-4)
    page.press("ArrowRight")
    page.press("ArrowUp")
    moved = still(page)
    assert moved["centre"][0] > closer["centre"][0]
    assert moved["centre"][1] > closer["centre"][1]
    page.press("Enter", "\r")
    assert page.run("wordMap.state.selected") >= 0
    order = []
    for _ in range(6):
        page.press("Tab", "\t")
        order.append(page.run("document.activeElement.id || document.activeElement.tagName"))
    assert order == ["in", "out", "reset", "theme", "help", "BUTTON"]


def test_the_legend_shows_one_group(page: Page) -> None:
    still(page)
    rows = page.run("[...document.querySelectorAll('#categories button')].map(e => e.textContent)")
    assert [row[:5] for row in rows] == ["</scr", "plain", "not i"]
    page.run("document.querySelector('#categories button').click()")
    shown = page.run("wordMap.labels()")
    assert shown
    assert all(word.startswith("aword") for word in shown)


def test_nothing_is_loaded_or_injected_and_themes_differ(page: Page) -> None:
    page.press("/", "/")
    write(page, "onerror")
    page.press("Enter")
    assert text(page, "name") == HOSTILE
    assert page.run("document.title") == text(page, "title") == HOSTILE
    assert page.run("document.images.length + document.querySelectorAll('iframe').length") == 0
    paper = "getComputedStyle(document.body).backgroundColor"
    light = page.run(paper)
    page.run("document.getElementById('theme').click()")
    assert page.run(paper) != light
    requests = [event["params"]["request"]["url"] for event in page.events
                if event["method"] == "Network.requestWillBeSent"]  # fmt: skip
    assert [address.split(":")[0] for address in requests] == ["file"]
    bad = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled")
    assert not [event for event in page.events if event["method"] in bad]


def test_a_frame_of_20000_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with opened(drawn(tmp_path, 20_000)) as page:
        page.run("wordMap.frames(20)")
        median = page.run("wordMap.frames(100)")
        labels = page.run("wordMap.labels().length")
    with capsys.disabled():
        print(f"\n20,000 words at 1280 × 800, {labels} labels, WebGL in software: median frame "
              f"{median:.1f} ms, {1000 / median:.0f} a second")  # fmt: skip
    assert median < _SLOWEST
