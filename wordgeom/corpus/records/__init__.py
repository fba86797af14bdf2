"""Record formats: JSON Lines, CSV, TSV, Parquet, CoNLL-U, FASTA; which format a file has."""
