"""The axes of neighbours: a module of this package that has ``AXES`` adds some; nothing else names it."""
