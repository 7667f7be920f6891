"""Executing a plan."""
