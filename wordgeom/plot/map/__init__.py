"""Maps of words: which words, where, in which colours; as a picture or as a page."""
