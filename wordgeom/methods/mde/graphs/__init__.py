"""The graphs of minimum-distortion embedding: which pairs of items have a distortion."""
