"""DataFrames as the table of `impute`, and dictionaries and Series as its name map.

The index of a DataFrame names the entities, and each column is a feature.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.core.errors import InputError, OptionError, WordgeomError
from wordgeom.core.formatting import listed
from wordgeom.core.types import Float64

_NUMBERS = "biuf"  # kinds of dtype: booleans, integers, floats
_COLUMN = re.compile(r"\bcolumn (\d+)\b")
_WHERE, _MAP = "the table", "name_map"
_BREAK = re.compile(r"[\t\r\n]")
_SHOWN = 5


def is_frame(table: Any) -> bool:
    """Return whether an object is a DataFrame, of pandas or of a library that converts to it."""
    return hasattr(table, "columns") and (hasattr(table, "dtypes") or hasattr(table, "to_pandas"))


@contextlib.contextmanager
def as_file(frame: Any) -> Iterator[Path]:
    """Lend a DataFrame as a file; errors name the table and its columns. Raises InputError."""
    if not hasattr(frame, "index"):  # Polars has none: the first column takes its place
        frame = frame.to_pandas().set_index(frame.columns[0])
    names, matrix = _names(frame), _matrix(frame)
    columns = [str(name) for name in frame.columns]
    with tempfile.TemporaryDirectory(prefix="wordgeom-") as folder:
        path = Path(folder) / "table.npz"
        np.savez(path, matrix=matrix, names=names)
        with _called(_WHERE, path, lambda text: _COLUMN.sub(
            lambda number: f"column {columns[int(number[1]) - 1]!r}", text
        )):  # fmt: skip
            yield path


def is_map(names: Any) -> bool:
    """Return whether an object maps entities to words: a dictionary or a Series."""
    return isinstance(names, Mapping) or (hasattr(names, "index") and hasattr(names, "items"))


@contextlib.contextmanager
def map_as_file(names: Any) -> Iterator[Path]:
    """Lend a dictionary or Series as a name map, without missing words. Raises InputError."""
    if is_frame(names):
        what, do = f"{_MAP} must be a file, a dictionary or a Series", 'choose a column: df["word"]'
        raise OptionError(what, found=type(names).__name__, do=do)
    lines = []
    for entity, word in names.items():
        if word is None or word != word or type(word).__name__ == "NAType":
            continue
        if not (isinstance(entity, str) and isinstance(word, str)):
            found = f"{entity!r}: {word!r}"
            do = "map names of entities to words"
            raise InputError("must map text to text", where=_MAP, found=found, do=do)
        lines.append("\t".join(_BREAK.sub(" ", text) for text in (entity, word)) + "\n")
    with tempfile.TemporaryDirectory(prefix="wordgeom-") as folder:
        path = Path(folder) / "names.tsv"
        path.write_text("".join(lines), encoding="utf-8", newline="\n")
        with _called(_MAP, path):
            yield path


@contextlib.contextmanager
def _called(name: str, path: Path, how: Callable[[str], str] = str) -> Iterator[None]:
    """Let errors call a temporary file by a name."""
    try:
        yield
    except WordgeomError as error:
        error.where = error.where.replace(str(path), name)
        error.reword(lambda text: how(text.replace(str(path), name)))
        raise


def _names(frame: Any) -> np.ndarray[Any, Any]:
    """Return the index (n) as text; raises InputError where it does not hold names."""
    index = list(frame.index)
    for row, name in enumerate(index, 1):
        if not isinstance(name, str):
            found = f"{name!r} in row {row}"
            do = 'name the rows: df.set_index("name")'
            if isinstance(name, float) and name != name:
                do = "name the row, or drop it: df[df.index.notna()]"
            raise InputError("the index must hold names", where=_WHERE, found=found, do=do)
    return np.array(index, dtype=str) if index else np.empty(0, "U1")


def _matrix(frame: Any) -> Float64:
    """Return the columns (n × d) float64, nan where missing; raises InputError for text."""
    kinds = {name: frame.dtypes.iloc[k] for k, name in enumerate(frame.columns)}
    others = [f"{name!r} ({kind})" for name, kind in kinds.items() if kind.kind not in _NUMBERS]
    if others:
        found = listed([*others[:_SHOWN], *(["…"] if len(others) > _SHOWN else [])])
        do = "drop them, or use pandas.to_numeric or pandas.get_dummies"
        raise InputError("columns must be numbers", where=_WHERE, found=found, do=do)
    columns = [frame.iloc[:, k].to_numpy(np.float64, na_value=np.nan)
               for k in range(frame.shape[1])]  # fmt: skip
    if not columns:
        raise OptionError("the table has no columns", do="choose columns of numbers")
    return np.ascontiguousarray(np.column_stack(columns))
