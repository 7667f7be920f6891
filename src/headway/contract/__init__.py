"""What the host asks of a lab, and what the lab answers.

Both sides have these modules, so they use the standard library only.
"""
