"""Records: made of runs, stored, and where they came from."""
