"""Summaries: passages gathered, sentences chosen or written, each checked and cited."""
