"""Answering: retrieval and reading of passages, candidates, filters, spelling, summaries."""
