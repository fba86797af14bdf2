"""Optimisers of smooth functions, and fits of monotone sequences; they know nothing of words."""
