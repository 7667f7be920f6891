"""Web pages: sites and their archives, replaying them, and what loading them in a browser tells."""
