"""Command lines that are run in the process of the tests."""

from __future__ import annotations

import pytest
from asking import Answer, Ask

from wordgeom.cli import main


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Ask:
    """Run a command line in this process."""

    def run(*args: str) -> Answer:
        capsys.readouterr()
        status = main(args)
        return Answer(status, *capsys.readouterr())

    return run
