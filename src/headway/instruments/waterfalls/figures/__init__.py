"""Figures of page loads."""
