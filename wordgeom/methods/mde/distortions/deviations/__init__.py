"""Functions of §4.2: how far a distance is from a deviation, 0 where they are equal."""
