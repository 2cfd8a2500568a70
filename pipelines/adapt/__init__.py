"""Distils the model of token vectors to the documents of one index, without labels."""
