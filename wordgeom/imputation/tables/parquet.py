"""Read Parquet tables: the first text column has the names, all others are numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.core.errors import FormatError, InputError, UnavailableError
from wordgeom.core.formatting import first_sentence, install
from wordgeom.core.types import Float64
from wordgeom.imputation.tables.files import check_size, opened
from wordgeom.imputation.tables.table import Table

MAGIC = b"PAR1"
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")
_ROWS = 1 << 14  # rows per batch


def read_parquet(path: Path, memory: int) -> Table:
    """Read a table (n × d). Raises UnavailableError without pyarrow, FormatError, InputError.

    Nulls are missing values; a null name is an empty name.
    """
    pyarrow, parquet = _pyarrow()
    with opened(path) as source:
        try:
            with parquet.ParquetFile(source) as file:
                return _table(file, memory, path)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            what = "broken Parquet file: " + first_sentence(error)
            raise FormatError(what, where=path, do="download or write it again") from None


def _table(file: Any, memory: int, path: Path) -> Table:
    label, columns, notes = _columns(file.schema_arrow, path)
    names: list[str] = []
    blocks: list[Float64] = []
    # Rows are counted while reading, because the file's own count may be false.
    for batch in file.iter_batches(batch_size=_ROWS):
        check_size(len(names) + len(batch), len(columns), memory, path)
        names += [name or "" for name in batch.column(label).to_pylist()]
        blocks.append(np.stack([_numbers(batch.column(c)) for c in columns], axis=1))
    matrix = np.concatenate(blocks) if blocks else np.empty((0, len(columns)))
    return Table(matrix, names, [repr(column[:40]) for column in columns], notes=notes)


def _columns(schema: Any, path: Path) -> tuple[str, list[str], tuple[str, ...]]:
    """Return the column of names, the columns of numbers, and notes.

    A row index that pandas stored without a name is not a feature.
    """
    heads = list(schema.names)
    if len(set(heads)) < len(heads):
        raise InputError("two columns have the same name", where=path, do="rename one")
    label = next((field.name for field in schema if _is_text(field.type)), None)
    if label is None:
        found = ", ".join(heads[:5])
        do = "add the names as text, or save the numbers as .npy"
        raise InputError(f"no text column with names among {found}", where=path, do=do)
    for field in schema:
        if field.name != label and not _is_number(field.type):
            do = "remove it: every column after the names must be numeric"
            what = f"column {field.name[:40]!r} is not numeric"
            raise InputError(what, where=path, found=str(field.type)[:40], do=do)
    index = [head for head in heads if _PANDAS_INDEX.fullmatch(head) and head != label]
    notes = (f"{path}: ignored the row index of pandas: {', '.join(index)}",) if index else ()
    return label, [head for head in heads if head != label and head not in index], notes


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _is_number(kind: Any) -> bool:
    from pyarrow import types

    known = (types.is_integer, types.is_floating, types.is_boolean, types.is_null)
    return any(is_one(kind) for is_one in known)


def _numbers(column: Any) -> Float64:
    import pyarrow

    # safe=False rounds integers beyond 2⁵³ to float64, like all other readers.
    cast = column.cast(pyarrow.float64(), safe=False)
    return np.asarray(cast.to_numpy(zero_copy_only=False), dtype=np.float64)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        do = f"{install('parquet')}, or save the table as .csv"
        raise UnavailableError("Parquet files need pyarrow", do=do) from None
    return pyarrow, parquet
