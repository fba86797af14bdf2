"""Thresholded similarity matching (Saul 2022): the method `tsm`."""
