"""Sites: recorded pages and their archives, and replaying them."""
