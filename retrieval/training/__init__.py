"""Training of retrievers: mined negatives, and distillation of a cross-encoder."""
