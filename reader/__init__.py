"""Finds the answer spans inside passages."""
