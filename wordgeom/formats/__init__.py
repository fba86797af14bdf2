"""Read and write matrices and vectors in other programs' formats, one format per module."""
