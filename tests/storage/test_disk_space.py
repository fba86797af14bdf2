"""Free space is compared with what a run needs: an error below the least, a warning below more."""

from __future__ import annotations

import logging
from collections import namedtuple
from pathlib import Path

import pytest
from corpora import assert_one_line

from wordgeom.core.errors import WriteError
from wordgeom.storage import disk_space
from wordgeom.storage.disk_space import Demand, Space, check_space

Usage = namedtuple("Usage", "total used free")
MB = 10**6


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Two directories, on file systems of their own, with 10 MB and 3 MB free."""
    out, scratch = tmp_path / "out", tmp_path / "scratch"
    out.mkdir()
    scratch.mkdir()
    free = {out: 10 * MB, scratch: 3 * MB}
    devices = {out: 1, scratch: 2}
    monkeypatch.setattr("shutil.disk_usage", lambda p: Usage(0, 0, free[Path(p)]))
    monkeypatch.setattr(disk_space, "_device", lambda folder: devices[folder])
    return out, scratch, devices


@pytest.mark.parametrize(
    ("demand", "freed", "where"),
    [
        (Demand(Space(11 * MB, 20 * MB)), 0, "out"),
        (Demand(Space(0, 1), Space.exactly(4 * MB)), 0, "scratch"),
        (Demand(Space(12 * MB, 12 * MB)), MB, "out"),
    ],
)
def test_a_run_that_cannot_fit_is_an_error_of_one_line(folders, demand, freed, where):
    out, scratch, _ = folders
    with pytest.raises(WriteError) as caught:
        check_space(demand, out, str(scratch), freed)
    option = "-o" if where == "out" else "--tmp-dir"
    assert_one_line(caught, out.with_name(where), "at least", "free", option)


def test_a_run_that_may_not_fit_is_a_warning_and_one_that_fits_is_silent(folders, caplog):
    out, scratch, _ = folders
    with caplog.at_level(logging.INFO, "wordgeom"):
        check_space(Demand(Space(1, 10 * MB), Space(1, 3 * MB)), out, str(scratch))
        check_space(Demand(Space(11 * MB, 11 * MB)), out, str(scratch), 1 * MB)
        assert not caplog.messages
        check_space(Demand(Space(1, 11 * MB), do="count less"), out, str(scratch))
    (line,) = caplog.messages
    assert line.startswith(f"warning: {out}:")
    assert "11 MB" in line
    assert "count less" in line


def test_what_shares_a_file_system_is_added_up(folders):
    out, scratch, devices = folders
    demand = Demand(Space.exactly(8 * MB), Space.exactly(3 * MB))
    check_space(demand, out, str(scratch))
    devices[scratch] = devices[out]
    with pytest.raises(WriteError, match="at least 11 MB"):
        check_space(demand, out, str(scratch))
