"""Weightings of counts, applied to rows as they are read."""
