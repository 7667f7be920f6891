"""Interoperability of QUIC stacks: the test cases of the QUIC interop runner, seeded and in virtual time."""
