"""Semi-supervised multidimensional scaling: see method.py."""
