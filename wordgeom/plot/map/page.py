"""A map as one self-contained HTML page: assets/map.html, built by scripts/map_page, and its data.

The data are JSON in an element that browsers do not execute. `<` is written as an escape, so that
no word, category or title can end the element; the script sets all texts as text.
"""

from __future__ import annotations

import base64
import html
import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.core.formatting import readable_size
from wordgeom.core.types import Array, Float64
from wordgeom.plot.colours import Colouring, values_of
from wordgeom.plot.map.near import Near, near_words, packed
from wordgeom.plot.map.words import WordMap
from wordgeom.storage.files import atomic_file

MOST = 100_000  # words drawn by default
SUFFIX = ".html"
_STEPS = 65_535  # of a coordinate
_READING = "Near words have similar vectors; the axes have no meaning."
_NONE = 255  # code of a word without a category


def draw(chart: WordMap, path: str | Path, title: str | None = None) -> str:
    """Write the page of a map, return its caption."""
    near = near_words(chart.space)
    with atomic_file(Path(path)) as out:
        out.write(page(chart, near, title))
    return f"{_caption(chart, near)}, {readable_size(os.path.getsize(path))}"


def page(chart: WordMap, near: Near, title: str | None = None) -> bytes:
    """Return the bytes of the page."""
    title = chart.name if title is None else title
    by = "distance" if near.cosines is None else "cosine"
    n, k = near.rows.shape
    bits = n.bit_length()
    data = {
        "title": title,
        "note": f"{_caption(chart, near)}. {_READING}",
        "measure": f"Nearest in {chart.space.name}, by {by}",
        "words": "\n".join(word.replace("\n", " ") for word in chart.words),
        "places": _base64(_places(chart.positions)),
        "near": {"k": k, "bits": bits, "cosine": near.cosines is not None,
                 "rows": _text(packed(near.rows, bits)), "values": _base64(_steps(near))},
        "colour": None if chart.colouring is None else _column(chart.colouring, chart.words),
    }  # fmt: skip
    parts = {"title": html.escape(title), "data": _escaped(data)}
    raw = (files("wordgeom.plot") / "assets" / "map.html").read_text(encoding="utf-8")
    before, _, rest = raw.partition("{{title}}")
    between, _, after = rest.partition("{{data}}")
    text = "".join((before, parts["title"], between, parts["data"], after))
    return text.encode("utf-8", "backslashreplace")


def _caption(chart: WordMap, near: Near) -> str:
    """Return the map's caption, with the recall of neighbours that were not searched exactly."""
    exact = "" if near.recall == 1 else f", {near.recall:.1%} of the neighbours found"
    return chart.caption + exact


def _escaped(data: dict[str, Any]) -> str:
    """Return JSON without the characters that mean something in HTML."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _places(positions: Float64) -> Array:
    """Return all x, then all y, as steps of a square around the map."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    shares = (positions - (low + high) / 2) / float((high - low).max()) + 0.5
    return np.asarray(np.round(shares.T * _STEPS), "<u2")


def _steps(near: Near) -> Array:
    """Return cosines as steps from −1 to 1, nothing for distances."""
    if near.cosines is None:
        return np.empty(0, np.uint8)
    return np.round((np.clip(near.cosines, -1, 1) + 1) * 127.5).astype(np.uint8)


def _column(colouring: Colouring, words: list[str]) -> dict[str, Any]:
    """Return the categories or numbers of the words; raises InputError if no word has one."""
    values = values_of(colouring, words)
    if not colouring.categories:
        numbers = np.array([np.nan if value is None else value for value in values], "<f4")
        ends = {"low": float(np.nanmin(numbers)), "high": float(np.nanmax(numbers))}
        return {"name": colouring.name, "values": _base64(numbers), **ends}
    places = {name: code for code, name in enumerate(colouring.categories)}
    codes = [_NONE if value is None else places[value] for value in values]
    named = {"name": colouring.name, "categories": colouring.categories}
    return {**named, "codes": _base64(np.array(codes, np.uint8))}


def _base64(array: Array) -> str:
    return _text(array.tobytes())


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
