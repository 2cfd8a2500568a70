"""Ranks passages for questions: TF-IDF, BM25, dense vectors and their fusion."""
