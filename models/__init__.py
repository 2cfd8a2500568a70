"""Neural networks: found by digest, run in batches, trained, stored as differences from the base."""
