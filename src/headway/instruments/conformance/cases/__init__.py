"""The cases, a module for each family or part of one; each module has `CASES`."""
