"""The programs in scripts/reproduce explain themselves without an environment."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import wordgeom

FOLDER = Path(wordgeom.__file__).parent.parent / "scripts" / "reproduce"


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("agrawal", "7.1, 7.3 and 7.4 need no data"),
        ("carrington-2-4", "DTM holds document-term counts"),
        ("carrington-5", "The thesis does not state the noise"),
        ("drift", "Level and power of the permutation tests of drift"),
        ("khalife", "A criterion that needs a missing row is not tested"),
        ("planted_change", "Rank words whose change is known, planted in dated text"),
        ("planted_oracle", "What a test that knows the answer finds"),
        ("saul", "τ leaves 99 % of the pairs below it"),
        ("yao", "--companies has the columns ticker, first_word"),
    ],
)
def test_help_needs_no_environment(tmp_path, name, part):
    """The docstring is printed without any Python."""
    done = subprocess.run(
        [FOLDER / name, "--help"], capture_output=True, text=True, check=False, cwd=tmp_path,
        env={"PYTHON": "none", "PATH": "/usr/bin:/bin"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert part in done.stdout
    assert '"""' not in done.stdout
