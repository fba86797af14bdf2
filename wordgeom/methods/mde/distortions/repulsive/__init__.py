"""Repulsive functions of §4.1.2: weight times a barrier that falls to 0 with the distance."""
