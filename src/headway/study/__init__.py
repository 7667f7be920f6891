"""The model of an experiment: typed, validated, and the plan of its runs."""
