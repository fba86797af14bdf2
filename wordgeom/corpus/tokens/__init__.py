"""From blocks of text to a stream of word ids."""
