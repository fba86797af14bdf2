"""Results as DataFrames and as HTML; pandas is imported where it is used."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wordgeom.core.errors import UnavailableError
from wordgeom.core.formatting import Rows

if TYPE_CHECKING:
    from pandas import DataFrame


def data_frame(
    columns: Mapping[str, Any] | Sequence[Mapping[str, Any]] | Any,
    index: Sequence[str] | None = None,
    name: str | None = None,
) -> DataFrame:
    """Return a DataFrame; name: of the index. Raises UnavailableError without pandas."""
    try:
        import pandas as pd
    except ImportError:
        do = "pip install pandas"
        raise UnavailableError("to_frame() needs pandas", do=do) from None
    return pd.DataFrame(columns, index=None if index is None else pd.Index(index, name=name))


def html_table(rows: Rows, words: int = 1, below: str = "") -> str:
    """Return the rows, a head first, as an HTML table; below: a line that follows it."""
    head, *others = [[html.escape(cell) for cell in row] for row in rows]
    lines = [f"<tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr>"]
    for row in others:
        cells = (
            f'<td style="text-align:{"left" if number < words else "right"}">{cell}</td>'
            for number, cell in enumerate(row)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{''.join(lines)}</table>" + (f"<p>{html.escape(below)}</p>" if below else "")
