"""Judging vectors: tasks, the answers that vectors give to their items, scores with intervals."""
