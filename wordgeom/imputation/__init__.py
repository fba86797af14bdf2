"""Latent semantic imputation: vectors for entities, inferred from a table and known vectors."""
