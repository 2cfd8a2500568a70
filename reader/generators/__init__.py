"""Models that write: the protocol, and llama.cpp, transformers and servers behind it."""
