"""Comparison of methods, peers and vectors files on the same words and test sets."""
