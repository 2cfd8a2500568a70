"""Extractive summaries: the sentences of the passages that say most, in their own words."""
