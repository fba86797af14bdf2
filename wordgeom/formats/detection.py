"""Which format a file is of: told by its suffix, or by --from and --to."""

from __future__ import annotations

from pathlib import Path

from wordgeom.core.errors import OptionError

NPZ, NPY, MTX, GLOVE, BIN, TEXT, PROJECTOR = (
    "npz", "npy", "mtx", "glove", "bin", "text", "projector",
)  # fmt: skip
MATRICES = (NPZ, MTX, GLOVE)
VECTORS = (NPY, NPZ, BIN, TEXT, PROJECTOR)  # that can be written
ARRAYS = (NPY, NPZ)
SOURCE_FORMATS = (NPZ, NPY, MTX, GLOVE)  # what --from may say
TARGET_FORMATS = (*SOURCE_FORMATS, PROJECTOR)  # what --to may say
_SUFFIXES = {
    ".npz": NPZ, ".npy": NPY, ".mtx": MTX, ".glove": GLOVE, ".bin": BIN, ".txt": TEXT, ".vec": TEXT,
}  # fmt: skip
_PACKED = (MTX, TEXT)  # that may lie in a gzip file


def format_of(path: Path) -> str | None:
    """Return the format that a name tells, None where it tells none."""
    name = path.name.lower()
    found = _SUFFIXES.get(Path(name.removesuffix(".gz")).suffix)
    return None if name.endswith(".gz") and found not in _PACKED else found


def is_matrix(
    source: Path, target: Path, source_format: str | None, target_format: str | None
) -> bool:
    """Tell whether a matrix is meant: a folder, a matrix's format, or .npz into neither vectors'.

    source_format, target_format: where names do not tell.
    """
    found, wanted = source_format or format_of(source), target_format or format_of(target)
    return source.is_dir() or found in (MTX, GLOVE) or (found == NPZ and wanted not in VECTORS)


def check_target(target: Path, given: str | None, allowed: tuple[str, ...], what: str) -> str:
    """Return the format to write. Raises OptionError for one that `what` is not written to."""
    found = given or format_of(target)
    if found not in allowed:
        do = "pass another --to" if given else "name the output so, or pass --to"
        if given == GLOVE:
            do = "for GloVe's text name the output .txt and pass --no-header"
        raise OptionError(f"{what} are written to {_listed(allowed)}", where=target,
                          found=repr(given or target.name), do=do)  # fmt: skip
    return found


def _listed(formats: tuple[str, ...]) -> str:
    shown = [suffix for name in formats for suffix, form in _SUFFIXES.items() if form == name]
    return f"{', '.join(shown[:-1])} or {shown[-1]}"
