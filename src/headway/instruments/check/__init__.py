"""A gate: two builds of a program, compared run by run and packet by packet."""
