"""The congestion controllers of senders, recognised by what they keep in flight."""
