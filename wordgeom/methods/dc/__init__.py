"""Divide and conquer: a first block, later blocks, and how they are merged."""
