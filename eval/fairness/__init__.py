"""Counterfactual names: the same question about somebody else."""
