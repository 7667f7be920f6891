"""Records: their schema, how they are derived and stored, and where they came from."""
