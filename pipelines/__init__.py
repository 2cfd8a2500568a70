"""Where the layers meet: sync, search, ask, train, evaluate, and the command line."""
