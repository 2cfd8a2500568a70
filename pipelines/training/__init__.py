"""Training from files to weights: lists of passages are mined, scored by a teacher, and learned from."""
