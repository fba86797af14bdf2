"""Record formats: JSON Lines, TSV, CoNLL-U, FASTA."""
