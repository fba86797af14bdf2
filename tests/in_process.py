"""What `compare` runs in processes of its own, in this one: it saves their starts."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Sequence

import pytest

from wordgeom.cli import main
from wordgeom.core.errors import InputError
from wordgeom.runtime.subprocesses import Finished


def run_here(
    module: str, arguments: Sequence[str], follow: Callable[[str], None] | None = None
) -> Finished:
    """Stand for wordgeom.runtime.subprocesses.run_module."""
    from wordgeom.cli.measured import measure
    from wordgeom.peers.__main__ import main as train_peer

    commands: dict[str, Callable[[Sequence[str]], int]] = {
        "wordgeom": main,
        "wordgeom.cli.measured": measure,
    }
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        status = commands[module](arguments) if module in commands else train_peer(*arguments)
    if status:
        raise InputError(errors.getvalue().splitlines()[-1].removeprefix("wordgeom: error: "))
    return Finished(output.getvalue(), 1.0)


def train_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `compare` train in this process."""
    monkeypatch.setattr("wordgeom.comparison.entries.run_module", run_here)
    monkeypatch.setattr("wordgeom.peers.cache.run_module", run_here)
