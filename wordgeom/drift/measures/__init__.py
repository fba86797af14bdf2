"""Measures of change between two periods, one per file: `wordgeom drift --measure`."""
