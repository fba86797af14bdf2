"""Minimum-distortion embedding: average distortion of pairs, minimised under a constraint."""
