"""Kinds of files of others, told by their content: maker, version, and the command that takes them."""
