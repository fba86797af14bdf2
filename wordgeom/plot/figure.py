"""What all pictures share: the same look and bytes everywhere, written whole or not at all.

matplotlib is used through its objects alone (no pyplot, no window); a user's own style file does
not change a picture. Pictures are to be read in grey too: ink, dashes and marks tell things apart.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordgeom.core.errors import MissingInputError, OptionError, OutputExistsError, UnavailableError
from wordgeom.storage.files import atomic_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

_SHORT, _DECADE, _LONG = 5, 10, 100  # ratios of a logarithmic axis's ends that decide its numbers
INK, PALE = "#1a1a1a", "#8c8c8c"
# What would name the moment or the program goes: the same picture has the same bytes.
_METADATA: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
_STYLE: dict[Any, Any] = {
    "axes.edgecolor": PALE,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": "medium",
    "font.size": 9.0,
    "savefig.dpi": 150.0,
    "svg.fonttype": "path",
    "svg.hashsalt": "wordgeom",
    "text.color": INK,
    "text.parse_math": False,  # a $ in a file's name is a $; see plain_ticks
    "xtick.color": PALE,
    "xtick.labelcolor": INK,
    "ytick.color": PALE,
    "ytick.labelcolor": INK,
}


def check(path: str | Path, *, force: bool) -> None:
    """Refuse a picture that could not be written, before work is done for it.

    Raises OptionError for a suffix, MissingInputError for a folder that is not there,
    OutputExistsError without `force`, UnavailableError without matplotlib.
    """
    path = Path(path)
    if path.suffix.lower() not in _METADATA:
        do = "name the output so"
        what = "pictures are written to .png, .svg or .pdf"
        raise OptionError(what, where=path, found=repr(path.name), do=do)
    if not path.parent.is_dir():
        do = "make it, or name another"
        raise MissingInputError("no such folder", where=path.parent, do=do)
    if os.path.lexists(path) and not force:
        do = "pass --force to replace it, or name another"
        raise OutputExistsError("exists", where=path, do=do)
    _needs_matplotlib()


@contextlib.contextmanager
def drawn(path: str | Path, width: float, height: float) -> Iterator[Figure]:
    """Yield an empty figure, in inches, which is written to `path` when the block ends well.

    The suffix tells the format. Raises UnavailableError, OptionError and WriteError.
    """
    _needs_matplotlib()
    from matplotlib import rc_context, rcdefaults
    from matplotlib.figure import Figure

    path = Path(path)
    suffix = path.suffix.lower()
    with rc_context(), warnings.catch_warnings():
        rcdefaults()
        with rc_context(_STYLE):
            # A name may hold letters that the font lacks: boxes in a picture are no mistake.
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            figure = Figure(figsize=(width, height), layout="constrained")
            yield figure
            with atomic_file(path) as out:
                figure.savefig(out, format=suffix[1:], metadata=_METADATA[suffix])


def log_ticks(axis: Axis) -> None:
    """Put numbers on a logarithmic axis as they are said, three at least where it is short.

    To be called when everything is drawn on it.
    """
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    low, high = axis.get_view_interval()
    if high < _SHORT * low:
        axis.set_major_locator(MaxNLocator(4, min_n_ticks=3))
    elif high < _DECADE * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0, 7.0)))
    elif high < _LONG * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    plain_ticks(axis)
    axis.set_minor_formatter(NullFormatter())


def plain_ticks(axis: Axis) -> None:
    """Write an axis's numbers as they are said, 0.1 and not a power of ten."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))


def thin_grid(axes: Axes) -> None:
    """Draw the faint lines that let values be read, behind what is drawn."""
    axes.set_axisbelow(True)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)


def _needs_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        do = "pip install 'wordgeom[plot]'"
        raise UnavailableError("pictures need matplotlib", do=do) from None
