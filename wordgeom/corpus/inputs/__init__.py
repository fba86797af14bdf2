"""From names on the command line to blocks of UTF-8 text."""
