"""`jobs`: scripts for batch systems that count a text in shards and train on the sum."""
