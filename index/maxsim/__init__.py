"""Late interaction on disk: compressed token vectors, and search by the largest sum of maxima (MaxSim)."""
