"""The kinds of stores that hold a matrix."""

from __future__ import annotations

COOC, PMI, DTM = "cooc", "pmi", "dtm"
