"""The diagnosis of a run by its samples, captures and logs: what limited it, what it met, whether it is valid."""
