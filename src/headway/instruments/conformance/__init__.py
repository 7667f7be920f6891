"""Conformance of congestion control: what specifications ask of senders, as cases in virtual time."""
