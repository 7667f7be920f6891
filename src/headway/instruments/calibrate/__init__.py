"""Knobs of a program, searched until its runs agree with a target."""
