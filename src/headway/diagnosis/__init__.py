"""What a run's samples, captures and logs say of it: what limited it, what it met, whether it is valid."""
