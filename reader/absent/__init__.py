"""Unanswerable questions made from answerable ones: another passage, or another question."""
