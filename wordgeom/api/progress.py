"""Whether the public functions show progress, as the command line does."""

from __future__ import annotations

_shown = False


def show_progress(show: bool = True) -> None:
    """Show progress bars of long steps from now on, in a terminal or a notebook; False: none."""
    global _shown
    _shown = show


def is_shown() -> bool:
    """Return whether progress is shown."""
    return _shown
