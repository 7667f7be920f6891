"""Figures of contenders over sites."""
