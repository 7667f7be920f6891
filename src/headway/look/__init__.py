"""Accounts of files, whoever made them: one screen for each kind that Headway reads."""
