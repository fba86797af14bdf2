"""The examples of the documentation, run."""
