"""Transforms of a space: maps of vectors that `wordgeom transform` applies, one per file."""
