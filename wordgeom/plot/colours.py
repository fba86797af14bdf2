"""Colours that readers with colour-vision deficiency can tell apart, and colours from a file.

Categories have the colours of Okabe and Ito (2008), beyond eight with other markers; numbers have
the map cividis (Nuñez, Anderton and Renslow 2018). Words that the file lacks are grey.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.errors import FormatError, InputError
from wordgeom.evaluation.lines import read_lines, split_fields
from wordgeom.plot.figure import BESIDE, legend_above
from wordgeom.plot.labels import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
# Black is last: it is the colour of text.
OKABE_ITO = (BLUE, "#E69F00", GREEN, VERMILION, "#56B4E9", "#CC79A7", "#F0E442", "#000000")
UNKNOWN = "#b8b8b8"
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_MOST = len(OKABE_ITO) * len(MARKERS)
LONGEST = 28  # characters of a category in a legend
_MARK = 5.0  # size of a marker in the legend, points
_ROW = 0.19  # inches of a row of the legend
_MAP = "cividis"
_HEADS = frozenset(("word", "words", "term", "token", "name", "entity", "id", "ticker"))


@dataclass(frozen=True, eq=False)
class Colouring:
    """The values of words in a file: categories, or numbers.

    values: by word in NFC; categories: sorted, none for numbers.
    """

    name: str
    values: dict[str, str] | dict[str, float]
    categories: tuple[str, ...] = ()

    def value(self, word: str) -> Any:
        """Return the category or number of a word, None if it has none."""
        return self.values.get(unicodedata.normalize("NFC", word))


def read_colouring(path: str | Path) -> Colouring:
    """Read a file of words and categories or numbers, separated by tabs, or by commas in a .csv.

    Raises what `read_lines` raises; FormatError for a line without two fields, for a word with two
    values, for numbers mixed with other text, and for more categories than can be told apart.
    """
    path = Path(path)
    delimiter = "," if path.name.lower().removesuffix(".gz").endswith(".csv") else "\t"
    rows = [(number, _row(line, delimiter, f"{path} line {number}"))
            for number, line in read_lines(path)]  # fmt: skip
    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, (word, value) in rows[1:] if _is_header([row for _, row in rows]) else rows:
        if values.setdefault(word, value) != value:
            what = f"{word!r} is {value!r} here and {values[word]!r} in line {lines[word]}"
            do = "remove one of the two lines"
            raise FormatError(what, where=f"{path} line {number}", do=do)
        lines.setdefault(word, number)
    stated = {word: value for word, value in values.items() if value}
    return _of_numbers(path, stated, lines) or _of_categories(path, stated)


def _row(line: str, delimiter: str, where: str) -> tuple[str, str]:
    """Return the word and the value of a line in NFC; raises FormatError."""
    fields = split_fields(line, delimiter, where)
    if len(fields) != 2:
        do = "write a word, a tab and a category or number"
        raise FormatError("expected two fields", where=where, found=len(fields), do=do)
    if not fields[0].strip():
        raise FormatError("the word is empty", where=where, do="add a word, or remove the line")
    word, value = (unicodedata.normalize("NFC", field.strip()) for field in fields)
    return word, value


def _is_header(rows: list[tuple[str, str]]) -> bool:
    """Return whether the first row names the columns, by a head that may be a word of the plot."""
    (word, value), *others = rows
    alone = bool(others) and value not in {other for _, other in others}
    return word.casefold() in _HEADS and alone and _number(value) is None


def _of_numbers(path: Path, stated: dict[str, str], lines: dict[str, int]) -> Colouring | None:
    """Return a colouring by numbers, None if most values are none; raises FormatError."""
    numbers = {word: _number(value) for word, value in stated.items()}
    others = [word for word, number in numbers.items() if number is None]
    if len(others) == 1 and lines[others[0]] == 1 and len(numbers) > 1:
        del numbers[others.pop()]  # a header
    if 2 * len(others) >= len(numbers):
        return None
    if others:
        where, found = f"{path} line {lines[others[0]]}", repr(stated[others[0]])
        do = "write a number for each word, or remove words without one"
        what = "most values are numbers, but not this one"
        raise FormatError(what, where=where, found=found, do=do)
    return Colouring(path.name, {word: n for word, n in numbers.items() if n is not None})


def _of_categories(path: Path, stated: dict[str, str]) -> Colouring:
    categories = tuple(sorted(set(stated.values())))
    if len(categories) > _MOST:
        what = f"at most {_MOST} categories can be told apart"
        raise FormatError(what, where=path, found=f"{len(categories):,}", do="merge some")
    return Colouring(path.name, stated, categories)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def values_of(colouring: Colouring, words: Sequence[str]) -> list[Any]:
    """Return the category or number of each word, None without; raises InputError if none has."""
    found = [colouring.value(word) for word in words]
    if all(value is None for value in found):
        do = "name the words of the plot in its first column"
        raise InputError("none of its words is in the plot", where=colouring.name, do=do)
    return found


class Painted:
    """The colours and markers of the n words of a plot.

    colours (n), markers (n), known (n) bool: whether the file has the word.
    """

    def __init__(self, colouring: Colouring, words: Sequence[str]) -> None:
        from matplotlib import colormaps
        from matplotlib.colors import Normalize, to_hex

        found = values_of(colouring, words)
        self.colouring = colouring
        self._rows = {word: row for row, word in enumerate(words)}
        self.known = np.array([value is not None for value in found], bool)
        self.present = [value for value in found if value is not None]
        self.markers = [MARKERS[0]] * len(found)
        self.colours = [UNKNOWN] * len(found)
        self._norm = None
        if not colouring.categories:
            self._norm = Normalize(min(self.present), max(self.present))
            shade = colormaps[_MAP]
            self.colours = [UNKNOWN if value is None else to_hex(shade(float(self._norm(value))))
                            for value in found]  # fmt: skip
            return
        places = {name: k for k, name in enumerate(colouring.categories)}
        for n, value in enumerate(found):
            if value is not None:
                self.colours[n], self.markers[n] = _look(places[value])

    def look(self, word: str) -> tuple[str, str]:
        """Return the colour and the marker of a word of the plot."""
        row = self._rows[word]
        return self.colours[row], self.markers[row]

    @property
    def caption(self) -> str:
        """The words that the file lacks, for the caption; empty if there are none."""
        missing = int(np.sum(~self.known))
        return f"{missing:,} not in {printable(self.colouring.name, LONGEST)} (grey)" * bool(
            missing
        )

    def legend(self, figure: Figure, axes: Axes | list[Axes], *, above: bool = False) -> None:
        """Draw a legend of the categories to the right of the figure or above, or a colour bar."""
        from matplotlib.cm import ScalarMappable

        name = printable(self.colouring.name, LONGEST)
        if self._norm is not None:
            scale = ScalarMappable(self._norm, _MAP)
            bar = figure.colorbar(scale, ax=axes, fraction=0.05, pad=0.02, aspect=30)
            bar.set_label(name, fontsize="small")
            bar.ax.tick_params(labelsize="small")
            bar.outline.set_visible(False)
            return
        handles = self._handles()
        if above:
            legend_above(figure, handles)
            return
        rows = max(4, int((figure.get_figheight() - 1.5) / _ROW))
        legend = figure.legend(
            handles=handles, loc="outside right upper", fontsize="small", frameon=False, title=name,
            title_fontsize="small", ncols=-(-len(handles) // rows), alignment="left",
            handletextpad=0.2, columnspacing=1.0,
        )  # fmt: skip
        legend.set_gid(BESIDE)

    def _handles(self) -> list[Any]:
        """Return a marker for each category in the plot, and one for words without."""
        from matplotlib.lines import Line2D

        looks = [(_look(k), f"{printable(name, LONGEST)} ({self.present.count(name):,})")
                 for k, name in enumerate(self.colouring.categories)
                 if name in self.present]  # fmt: skip
        if missing := int(np.sum(~self.known)):
            looks.append(((UNKNOWN, MARKERS[0]), f"not in the file ({missing:,})"))
        style: dict[str, Any] = {"linestyle": "", "markersize": _MARK}
        return [Line2D([], [], color=colour, marker=marker, label=text, **style)
                for (colour, marker), text in looks]  # fmt: skip


def _look(category: int) -> tuple[str, str]:
    """Return the colour and the marker of a category."""
    return OKABE_ITO[category % len(OKABE_ITO)], MARKERS[category // len(OKABE_ITO)]


def painted(path: str | None, words: Sequence[str]) -> Painted | None:
    """Return the colours of words by a file, None without one; raises as `read_colouring`."""
    return None if path is None else Painted(read_colouring(path), words)
