"""Whether a command runs as a job of a batch system, which nobody watches."""

from __future__ import annotations

import os

IN_JOB = "WORDGEOM_JOB"  # set by the scripts of `wordgeom jobs`


def in_job() -> bool:
    """Return whether a script of `wordgeom jobs` runs the command."""
    return bool(os.environ.get(IN_JOB))
