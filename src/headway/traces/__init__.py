"""Network traces of others: read, described, and converted to delivery opportunities."""
