"""Style and output of all plots: the same look and bytes everywhere, written atomically.

matplotlib is used through its object interface, without pyplot or a window. A user's style file
does not affect plots. Plots are legible in greyscale: dashes and markers distinguish series too.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordgeom.core.errors import MissingInputError, OptionError, OutputExistsError, UnavailableError
from wordgeom.core.formatting import install
from wordgeom.plot.fonts import font_families
from wordgeom.plot.options import PlotOptions
from wordgeom.storage.files import atomic_file
from wordgeom.storage.input_protection import check_outputs

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.text import Text

# Ratios of a logarithmic axis's ends that choose its ticks.
_TWICE, _SHORT, _DECADE, _LONG = 2, 5, 10, 100
INK, PALE = "#1a1a1a", "#8c8c8c"
_FINE = 288  # pixels per inch with which text is measured, so that all formats have one layout
_PIXELS = 10**8  # in a .png
_COLLAPSED = "constrained_layout not applied"
_TITLE, BESIDE = "title", "legend-beside"  # of the title, and of a legend beside the panels
_ABOVE = 0.07  # inches above and below a title
_OVER = 4.0  # pixels by which a line at the edge may exceed the figure
_LEFT = 0.02  # of a title and a caption, relative to the figure's width
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
    "pdf.fonttype": 42,  # text as text, which can be searched and edited
    "svg.fonttype": "none",
    "svg.hashsalt": "wordgeom",
    "text.color": INK,
    "text.parse_math": False,  # a $ in a file name is a $; see plain_ticks
    "xtick.color": PALE,
    "xtick.labelcolor": INK,
    "ytick.color": PALE,
    "ytick.labelcolor": INK,
}


def check(
    path: str | Path, read: Iterable[str | Path] = (), *, force: bool, pages: bool = False
) -> None:
    """Check that a plot of what is `read` can be written, before any work is done.

    pages: an .html page is possible too, which needs no matplotlib. Raises OptionError for a
    suffix, and for an output that is an input; MissingInputError for a missing directory,
    OutputExistsError without `force`, UnavailableError without matplotlib.
    """
    path = Path(path)
    paged = pages and path.suffix.lower() == ".html"
    if not paged and path.suffix.lower() not in _METADATA:
        do, last = "choose one of these suffixes", ".pdf or .html" if pages else "or .pdf"
        comma = "," if pages else ""
        raise OptionError(f"plots are .png, .svg{comma} {last} files", where=path, do=do)
    if not path.parent.is_dir():
        do = "create it, or choose another"
        raise MissingInputError("no such directory", where=path.parent, do=do)
    check_outputs([path], read)
    if os.path.lexists(path) and not force:
        do = "pass --force to overwrite it, or choose another name"
        raise OutputExistsError("exists", where=path, do=do)
    if not paged:
        _require_matplotlib()


@contextlib.contextmanager
def saved_figure(
    path: str | Path,
    width: float,
    height: float,
    options: PlotOptions | None = None,
    texts: Iterable[str] = (),
) -> Iterator[Figure]:
    """Yield an empty figure, sizes in inches, and write it to `path` if the block succeeds.

    The suffix determines the format; texts: all that may need other fonts than the default. Raises
    UnavailableError, WriteError, and OptionError for a size that is too small or too large.
    """
    _require_matplotlib()
    from matplotlib import rc_context, rcdefaults
    from matplotlib.figure import Figure

    path, options = Path(path), options or PlotOptions()
    suffix = path.suffix.lower()
    width, height = options.inches() or (width, height)
    dpi = options.dpi if suffix == ".png" else _FINE
    if suffix == ".png" and (pixels := round(width * dpi) * round(height * dpi)) > _PIXELS:
        do = "lower --dpi or --size, or write a .pdf"
        what = f"a .png has at most {_PIXELS:,} pixels"
        raise OptionError(what, where=path, found=f"{pixels:,}", do=do)
    with rc_context(), warnings.catch_warnings():
        rcdefaults()
        families = font_families([*texts, options.title or "", path.name])
        with rc_context({**_STYLE, "font.family": families}):
            warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # noted above
            warnings.filterwarnings("error", message=_COLLAPSED)
            figure = Figure(figsize=(width, height), dpi=_FINE, layout="constrained")
            try:
                _title(figure, options.title)
                yield figure
                fix_layout(figure)
                _check_room(figure, path)
                with atomic_file(path) as out:
                    figure.savefig(out, format=suffix[1:], dpi=dpi, metadata=_METADATA[suffix])
            except UserWarning as warning:
                if _COLLAPSED not in str(warning):
                    raise
                raise _no_room(figure, path) from None


def _check_room(figure: Figure, path: Path) -> None:
    """Raise OptionError if a part of a plot is outside the figure."""
    figure.draw_without_rendering()
    whole = figure.bbox.padded(_OVER)
    parts = [axes.get_tightbbox() for axes in figure.axes]
    parts += [part.get_window_extent() for part in (*figure.legends, *figure.texts)]
    for box in parts:
        if box is not None and not (
            whole.contains(box.x0, box.y0) and whole.contains(box.x1, box.y1)
        ):
            raise _no_room(figure, path)


def _no_room(figure: Figure, path: Path) -> OptionError:
    width, height = figure.get_size_inches()
    what = f"the plot does not fit in {width:.3g} x {height:.3g} inches"
    return OptionError(what, where=path, do="choose a larger --size")


def _title(figure: Figure, title: str | None) -> None:
    if title is not None:
        text = figure.text(_LEFT, 1, " ", fontsize="large", fontweight="bold", gid=_TITLE)
        _set_wrapped(figure, text, title)
        height = text.get_window_extent().height / figure.bbox.height
        apart = _ABOVE * figure.dpi / figure.bbox.height
        text.set(y=1 - apart, verticalalignment="top")
        engine: Any = figure.get_layout_engine()
        engine.set(rect=(0, 0, 1, 1 - height - 2 * apart))


def write_caption(figure: Figure, caption: str, options: PlotOptions | None) -> None:
    """Write a caption below the plot, in lines as wide as the figure; again to change it."""
    if options is None or options.caption:
        text = figure.supxlabel(" ", fontsize="small", x=_LEFT, horizontalalignment="left")
        _set_wrapped(figure, text, caption)


def _set_wrapped(figure: Figure, text: Text, content: str) -> None:
    """Set a text of the figure in lines that fit its width."""
    room = (1 - 2 * _LEFT) * figure.bbox.width
    lines: list[str] = []
    for paragraph in content.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            longer = f"{line} {word}" if line else word
            text.set_text(longer)
            if line and text.get_window_extent().width > room:
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    for number, line in enumerate(lines):  # a single word may be wider than the figure
        lines[number] = shortened(text, line, room)
    text.set_text("\n".join(lines))


def legend_above(figure: Figure, handles: Sequence[Artist]) -> None:
    """Draw a legend above the panels, in as many columns as fit the figure's width."""
    style: dict[str, Any] = {"frameon": False, "fontsize": "small", "handletextpad": 0.4}
    for columns in range(len(handles), 0, -1):
        legend = figure.legend(handles=handles, loc="outside upper left", ncols=columns,
                               columnspacing=1.4, **style)  # fmt: skip
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            return
        legend.remove()


def fix_layout(figure: Figure) -> None:
    """Fix a figure's layout, so that pixel coordinates are final."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    if figure.get_layout_engine() is None:
        return
    FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    # The layout leaves room for legends below the title, but draws them at the edge.
    below = [text.get_window_extent().y0 - _ABOVE * figure.dpi
             for text in figure.texts if text.get_gid() == _TITLE]  # fmt: skip
    top = min([figure.bbox.y1, *below]) / figure.bbox.height
    panels = max((axes.get_position().y1 for axes in figure.axes), default=top)
    for legend in figure.legends:
        edge = panels if legend.get_gid() == BESIDE else top
        legend.set_bbox_to_anchor((0, 0, 1, edge), figure.transFigure)


def panel_title(axes: Axes, content: str, weight: str = "normal") -> None:
    """Give an axes a title no wider than itself; again after its layout is fixed."""
    title = axes.set_title(content, fontweight=weight)
    shortened(title, content, axes.bbox.width)


def shortened(text: Text, content: str, room: float) -> str:
    """Return what fits of a content when `text` shows it, in pixels; `text` is changed."""
    shown, length = content, len(content)
    text.set_text(shown)
    while length > 1 and (width := text.get_window_extent().width) > room:
        length = max(1, min(length - 1, int(length * room / width)))
        shown = content[:length].rstrip() + "…"
        text.set_text(shown)
    return shown


def log_ticks(axis: Axis) -> None:
    """Put plain numbers on a logarithmic axis, at least three on a short one.

    Call it after everything is drawn.
    """
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    low, high = axis.get_view_interval()
    if high < _TWICE * low:
        axis.set_major_locator(MaxNLocator(4, min_n_ticks=3))
    elif high < _SHORT * low:
        # Evenly spaced numbers would leave the lower half of the axis without any.
        fine = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0)
        axis.set_major_locator(LogLocator(subs=fine))
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
        raise UnavailableError("plots need matplotlib", do=install("plot")) from None
