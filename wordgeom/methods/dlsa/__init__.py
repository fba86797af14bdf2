"""Dynamic LSA's parts: polynomials of time, the two half sweeps, the fit, its one form."""
