"""Whether words really changed: statistics of a dynamic model, each with what it assumes."""
