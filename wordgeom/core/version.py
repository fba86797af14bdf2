"""The version of wordgeom."""

__version__ = "0.1.0"
