"""Trains what ranks: negatives for it, the cross-encoder that teaches, the student that is searched with."""
