"""Neighbours of a conclusion: what stands nearest around the cells it rests on, tried one thing at a time."""
