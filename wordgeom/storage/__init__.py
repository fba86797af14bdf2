"""Directories and files that are written atomically."""
