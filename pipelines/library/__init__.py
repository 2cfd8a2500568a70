"""A library: opening commits of an index, its models, folders, cache and status."""
