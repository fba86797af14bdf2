"""The parts of the geometric build-up: its anchors, Algorithm 1, and the sweeps that follow it."""
