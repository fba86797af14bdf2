"""Other programs' files, one format a file: matrices and vectors, read and written."""
