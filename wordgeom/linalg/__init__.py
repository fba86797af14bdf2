"""Linear algebra that methods call: a closed list of primitives, in NumPy and in Torch."""
