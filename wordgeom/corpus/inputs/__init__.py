"""Names of inputs → files → blocks of UTF-8 text; warnings about what the files contain."""
