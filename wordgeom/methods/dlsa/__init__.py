"""Dynamic LSA: polynomials of time, alternating sweeps, the canonical form, and stored models."""
