"""The emulation's self-test: what a path states, measured from inside a lab."""
