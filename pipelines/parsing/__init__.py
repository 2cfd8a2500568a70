"""Parsing of files in child processes, and the sync of an index with its folders."""
