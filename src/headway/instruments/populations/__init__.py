"""The sites of a population together: differences over sites, shares of sites, and what tells sites apart."""
