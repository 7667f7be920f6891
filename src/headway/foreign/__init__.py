"""The boundary to files of others: their names, their sizes, their documents, and their texts on a terminal.

Every reader of a file that somebody else may have written goes through it.
"""
