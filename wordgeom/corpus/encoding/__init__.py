"""Text files → one stream of word ids and a vocabulary."""
