"""Late interaction on disk: token vectors, compressed, and the search for the largest sum of maxima."""
