"""Everything on disk: the catalog, immutable segments, and the indexes that search them."""
