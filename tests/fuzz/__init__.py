"""Every reader is given files that are nearly right: it returns a value or fails in one line."""
