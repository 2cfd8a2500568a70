"""Readers of data sets: SQuAD, BEIR, questions about folders, examples for ranking."""
