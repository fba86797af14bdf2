"""Tables of entities: readers, entity names and missing values."""
