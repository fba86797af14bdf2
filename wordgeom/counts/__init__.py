"""Co-occurrence counts: from a stream of word ids to rows of a sparse matrix, and their sums."""
