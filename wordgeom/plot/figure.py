"""Style and output of all plots: the same look and bytes everywhere, written atomically.

matplotlib is used through its object interface, without pyplot or a window. A user's style file
does not affect plots. Plots are legible in greyscale: ink, dashes and markers distinguish series.
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

_SHORT, _DECADE, _LONG = 5, 10, 100  # ratios of a logarithmic axis's ends that choose its ticks
INK, PALE = "#1a1a1a", "#8c8c8c"
# Dates and program names are removed, so that the same plot has the same bytes.
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
    "text.parse_math": False,  # a $ in a file name is a $; see plain_ticks
    "xtick.color": PALE,
    "xtick.labelcolor": INK,
    "ytick.color": PALE,
    "ytick.labelcolor": INK,
}


def check(path: str | Path, *, force: bool) -> None:
    """Check that a plot can be written, before any work is done.

    Raises OptionError for a suffix, MissingInputError for a missing directory, OutputExistsError
    without `force`, UnavailableError without matplotlib.
    """
    path = Path(path)
    if path.suffix.lower() not in _METADATA:
        do = "choose one of these suffixes"
        raise OptionError("plots are .png, .svg or .pdf files", where=path, do=do)
    if not path.parent.is_dir():
        do = "create it, or choose another"
        raise MissingInputError("no such directory", where=path.parent, do=do)
    if os.path.lexists(path) and not force:
        do = "pass --force to overwrite it, or choose another name"
        raise OutputExistsError("exists", where=path, do=do)
    _require_matplotlib()


@contextlib.contextmanager
def saved_figure(path: str | Path, width: float, height: float) -> Iterator[Figure]:
    """Yield an empty figure, sizes in inches, and write it to `path` if the block succeeds.

    The suffix determines the format. Raises UnavailableError, WriteError.
    """
    _require_matplotlib()
    from matplotlib import rc_context, rcdefaults
    from matplotlib.figure import Figure

    path = Path(path)
    suffix = path.suffix.lower()
    with rc_context(), warnings.catch_warnings():
        rcdefaults()
        with rc_context(_STYLE):
            # Names may contain letters that the font lacks; they appear as boxes.
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")
            figure = Figure(figsize=(width, height), layout="constrained")
            yield figure
            with atomic_file(path) as out:
                figure.savefig(out, format=suffix[1:], metadata=_METADATA[suffix])


def log_ticks(axis: Axis) -> None:
    """Put plain numbers on a logarithmic axis, at least three on a short one.

    Call it after everything is drawn.
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
    """Format an axis's ticks as plain numbers, 0.1 instead of a power of ten."""
    from matplotlib.ticker import FuncFormatter

    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))


def thin_grid(axes: Axes) -> None:
    """Draw faint horizontal grid lines in the background."""
    axes.set_axisbelow(True)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)


def _require_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        do = "pip install 'wordgeom[plot]'"
        raise UnavailableError("plots need matplotlib", do=do) from None
