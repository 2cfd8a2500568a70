"""Confidence: is it worth what it says, and how it is made so."""
