"""Text vectors: weighted means of word vectors, without their common components."""
