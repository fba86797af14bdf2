"""The score test of change by sign flips: `testing.py` is its door, `scores.py` its mathematics."""
