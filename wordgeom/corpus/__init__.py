"""From text files to a stream of word ids and a vocabulary."""
