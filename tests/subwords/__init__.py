"""N-grams of words, their vectors, and the commands that use them."""
