"""Record formats: JSON Lines, TSV, CoNLL-U, FASTA and k-mers; which format a file has."""
