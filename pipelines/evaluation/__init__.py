"""Evaluation: the layers are run on questions with known answers, and what came out is kept and judged."""
