"""Figures of populations."""
