"""Checkpoints: everything that makes `--resume` work."""
