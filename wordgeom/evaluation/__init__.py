"""Evaluate vectors on evaluation sets: answers, scores and 95 % intervals."""
