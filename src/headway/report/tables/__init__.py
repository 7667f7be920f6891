"""The tables of the report: as text to be read, and as data with every number in full."""
