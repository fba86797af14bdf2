"""`merge`: which matrices can be combined, and how each combination is made."""
