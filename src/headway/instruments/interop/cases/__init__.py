"""The test cases, a module each, whose ``CASE`` is found here."""
