"""Tables of entities: readers, names and missing values."""
