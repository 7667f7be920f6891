"""Contenders over sites: which is best where, what choosing by site would gain, and what explains it."""
