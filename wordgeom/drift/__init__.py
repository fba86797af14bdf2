"""Tests of whether words changed over time, for dynamic LSA models."""
