"""What an experiment is: a typed, validated model, and the plan of its runs."""
