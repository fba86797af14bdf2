"""Word vectors: files, run cards and queries."""
