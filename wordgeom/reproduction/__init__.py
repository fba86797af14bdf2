"""Is a repeated run the same as the first one? What `rerun` reads and compares."""
