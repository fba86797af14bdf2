"""How two requests differ, in words."""

from __future__ import annotations

from typing import Any

import pytest

from wordgeom.core.requests import differing_option


@pytest.mark.parametrize(
    ("made", "asked", "line"),
    [
        (["a.bin"], ["b.bin", "c.bin"], "was made with --vectors a.bin, not b.bin, c.bin"),
        (["a.bin"], [], "was made with --vectors a.bin, not without"),
        ([], ["a.bin"], "was made without --vectors, not with --vectors a.bin"),
        (None, ["a.bin"], "was made without --vectors, not with --vectors a.bin"),
        (5, 0, "was made with --vectors 5, not 0"),
        (0, 5, "was made with --vectors 0, not 5"),
        (True, False, "was made with --vectors, not without"),
    ],
)
def test_a_differing_option_is_spelt_as_users_write_it(made: Any, asked: Any, line: str):
    assert differing_option({"vectors": asked}, {"vectors": made}) == line
