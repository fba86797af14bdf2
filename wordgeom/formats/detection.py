"""Detect the format of a file from its suffix, unless --from or --to names it."""

from __future__ import annotations

from pathlib import Path

from wordgeom.core.errors import OptionError
from wordgeom.formats.projector import is_projector

NPZ, NPY, MTX, GLOVE, BIN, TEXT, PROJECTOR = (
    "npz", "npy", "mtx", "glove", "bin", "text", "projector",
)  # fmt: skip
FASTTEXT = "fasttext"  # of a .bin file, told by its first bytes, or of --to
QUANTISED = "quantised"  # of an .npz archive, told by its members
MATRICES = (NPZ, MTX, GLOVE)
VECTORS = (NPY, NPZ, BIN, TEXT, PROJECTOR, FASTTEXT)  # formats that vectors are written to
ARRAYS = (NPY, NPZ)
LARGER = (TEXT, MTX, GLOVE, PROJECTOR)  # in which a number takes more bytes than in others
SOURCE_FORMATS = (NPZ, NPY, MTX, GLOVE)  # choices of --from
TARGET_FORMATS = (*SOURCE_FORMATS, PROJECTOR, FASTTEXT)  # choices of --to
_SUFFIXES = {
    ".npz": NPZ, ".npy": NPY, ".mtx": MTX, ".glove": GLOVE, ".bin": BIN, ".txt": TEXT, ".vec": TEXT,
}  # fmt: skip
_GZIPPED = (MTX, TEXT)  # formats that may be compressed


def format_of(path: Path) -> str | None:
    """Return the format that a file name's suffix stands for, or None."""
    name = path.name.lower()
    found = _SUFFIXES.get(Path(name.removesuffix(".gz")).suffix)
    return None if name.endswith(".gz") and found not in _GZIPPED else found


def is_matrix(
    source: Path, target: Path, source_format: str | None, target_format: str | None
) -> bool:
    """Return whether the source is a matrix: a store, .mtx, .glove, or .npz not meant as vectors.

    source_format, target_format: values of --from and --to, which override the suffixes.
    """
    found, wanted = source_format or format_of(source), target_format or format_of(target)
    if source.is_dir():
        return not is_projector(source)
    return found in (MTX, GLOVE) or (found == NPZ and wanted not in VECTORS)


def check_target(target: Path, given: str | None, allowed: tuple[str, ...], what: str) -> str:
    """Return the format to write. Raises OptionError unless `allowed` contains it."""
    found, named = given or format_of(target), format_of(target)
    if found == FASTTEXT and (named not in (None, BIN) or target.name.lower().endswith(".gz")):
        what = f"fastText's models are binary, not {target.suffix}"
        raise OptionError(what, where=target, do="name a .bin file")
    if found not in allowed:
        do = "choose another --to" if given else "change the suffix, or pass --to"
        if given == GLOVE:
            do = "for GloVe's text format, write a .txt file with --no-header"
        wanted = f"{what} are written as {_listed(allowed)}, not as {given or target.name!r}"
        raise OptionError(wanted, where=target, do=do)
    return found


def _listed(formats: tuple[str, ...]) -> str:
    shown = [suffix for name in formats for suffix, form in _SUFFIXES.items() if form == name]
    return f"{', '.join(shown[:-1])} or {shown[-1]}"
