"""The geometric build-up: Algorithm 1, plain and weighted sweeps, and vectors for new words."""
