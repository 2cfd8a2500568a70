"""Retrievers of LangChain, LlamaIndex and Haystack over a library."""
