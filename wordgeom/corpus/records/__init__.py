"""Record formats: JSON Lines, CSV, TSV, CoNLL-U, FASTA, k-mers; which format a file has."""
