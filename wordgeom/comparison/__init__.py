"""Comparison of methods, baselines and vectors files on the same words and test sets."""
