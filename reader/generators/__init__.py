"""Text generators: the protocol, and implementations with llama.cpp, transformers and servers."""
