"""The stages of the pipeline: each reads files, computes, and writes files."""
