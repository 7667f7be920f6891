"""What a file of others is, by its content: its kind, its maker and version, and the command that takes it."""
