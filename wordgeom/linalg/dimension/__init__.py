"""The dimension of a factorisation, chosen from the spectrum of the data by three rules."""
