"""Without room a command fails in one line, and the disk is as it was before."""

from __future__ import annotations

from itertools import cycle

import pytest

from faults import trials
from faults.commands import COMMANDS, Command
from faults.workshop import Workshop, command, disks_can_be_mounted

pytestmark = pytest.mark.faults

SIZES = (1, 100, 1000)  # bytes that a file may have
DISKS = (1, 2, 6)  # pages that a disk has
PAGE = 4096


@pytest.mark.parametrize("one", COMMANDS, ids=[one.name for one in COMMANDS])
def test_a_file_that_may_not_grow_is_an_error_that_keeps_the_old(
    shop: Workshop, one: Command
) -> None:
    starts = cycle(one.starts)
    failed = [trials.starve(shop, one, old=next(starts), most_bytes=n) for n in SIZES]
    assert failed[0].status == 1


@pytest.mark.skipif(
    not disks_can_be_mounted(), reason="mounting a disk takes unshare and a user namespace"
)
@pytest.mark.parametrize("name", ["build-cooc", "convert"])
def test_a_full_disk_is_an_error_that_keeps_the_old(shop: Workshop, name: str) -> None:
    ended = [trials.starve(shop, command(name), old=False, disk=n * PAGE) for n in DISKS]
    assert ended[0].status == 1
