"""Tokenisers, and the lexicons that count word types on threads within a memory limit."""
