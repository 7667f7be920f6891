"""Refusals as a user reads them: `CASE.toml` is refused in the words of `CASE.txt`, beside it."""
