"""Options of every plot: title, size, resolution, caption; and of plots of words: their colours."""

from __future__ import annotations

import re
from dataclasses import dataclass

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, option

_CM = 2.54  # centimetres in an inch
_LEAST, _MOST = 2.0, 100.0  # inches of a side
_SIZE = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*[x×*]\s*([0-9]*\.?[0-9]+)\s*(in|cm|)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class PlotOptions(Options):
    """Options of every plot."""

    title: str | None = option(None, "title above the plot", metavar="TEXT")
    size: str | None = option(None, "size in inches, or in cm: 8x6, 20x15cm", metavar="WxH")
    dpi: int = option(150, "resolution of .png files, pixels per inch", low=30, high=2400)
    caption: bool = option(True, "write the caption below the plot")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.inches()

    def inches(self) -> tuple[float, float] | None:
        """Return the width and height in inches, None for the plot's own; raises OptionError."""
        if self.size is None:
            return None
        match = _SIZE.fullmatch(self.size)
        if match is None:
            what = "--size must be width x height, such as 8x6 or 20x15cm"
            raise OptionError(what, found=repr(self.size))
        unit = _CM if match[3].lower() == "cm" else 1.0
        width, height = float(match[1]) / unit, float(match[2]) / unit
        if not (_LEAST <= width <= _MOST and _LEAST <= height <= _MOST):
            what = f"--size must be {_LEAST:g} to {_MOST:g} inches ({_LEAST * _CM:g} to "
            what += f"{_MOST * _CM:g} cm) in each direction"
            raise OptionError(what, found=repr(self.size))
        return width, height


@dataclass(frozen=True)
class ColourOptions(Options):
    """Options of plots whose points are words or entities."""

    colour_by: str | None = option(
        None, "colour words by a file: word TAB category or number", metavar="FILE"
    )
