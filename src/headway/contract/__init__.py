"""The contract of host and lab: what one asks, and the other answers.

Both sides have these modules, so they use the standard library only.
"""
