"""One module an engine: what it names in a tuple `ENGINES` is registered. Libraries load in `prepare`."""
