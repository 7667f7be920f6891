"""The state machines of senders: times in states, ways between them, and invariants."""
