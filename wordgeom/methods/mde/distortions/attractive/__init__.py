"""Attractive functions of §4.1.1: weight times a penalty that increases with the distance."""
