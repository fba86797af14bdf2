"""`python -m wordgeom.cli.measured COMMAND …`: print what a command took instead of its output."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Sequence

from wordgeom.cli import main
from wordgeom.runtime.provenance import Clock, peak_memory


def measure(arguments: Sequence[str], *, program: bool = False) -> int:
    """Run a command, and print its seconds and peak memory as JSON; returns its exit status.

    program: as of `main`.
    """
    clock = Clock()
    with contextlib.redirect_stdout(io.StringIO()):
        status = main(arguments, program=program)
    if status == 0:
        json.dump({"seconds": clock.seconds(), "peak_bytes": peak_memory()}, sys.stdout)
    return status


if __name__ == "__main__":
    sys.exit(measure(sys.argv[1:], program=True))
