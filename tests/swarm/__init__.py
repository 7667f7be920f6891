"""A swarm of drawn settings: each is carried out, and judged by what must be true of any."""
