"""Plots with matplotlib (the extra `plot`): one kind of plot per file, each with a `draw`."""
