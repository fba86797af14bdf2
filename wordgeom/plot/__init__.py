"""Pictures, by matplotlib (the extra `plot`): one kind of picture a file, each with its `draw`."""
