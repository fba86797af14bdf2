"""The warm process and its inputs, made once for all tests of faults."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.workshop import RAM, Workshop, disks_can_be_mounted


@pytest.fixture(scope="session")
def shop() -> Iterator[Workshop]:
    """Where commands are run and disturbed."""
    with (
        tempfile.TemporaryDirectory(dir=RAM) as folder,
        Workshop(Path(folder), disks=disks_can_be_mounted()) as made,
    ):
        yield made
