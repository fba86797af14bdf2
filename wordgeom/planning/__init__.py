"""What a run will cost: samples of the text, pilot runs on them, and their extrapolation."""
