"""Subwords: the units of words, their n-grams, and vectors of n-grams fitted to those of words."""
