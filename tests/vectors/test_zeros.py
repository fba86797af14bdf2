"""Rows that are zero, among any bits that a file may hold."""

from __future__ import annotations

import numpy as np
import pytest

from wordgeom.vectors.zeros import zero_rows


@pytest.mark.filterwarnings("error")
def test_a_signalling_nan_is_not_zero_and_warns_of_nothing():
    rows = np.zeros((3, 4), np.float32)
    rows.view(np.uint32)[1, 2] = 0x7F800001  # NumPy warns where it converts this to a truth value
    assert zero_rows(rows).tolist() == [0, 2]
