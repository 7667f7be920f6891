"""Page loads: what a browser tells of one, and what that means."""
