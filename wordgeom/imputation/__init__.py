"""Latent semantic imputation: vectors for entities, from a table about them and known vectors."""
