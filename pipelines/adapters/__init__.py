"""Retrievers and components of other frameworks over a library: LangChain, LlamaIndex, Haystack."""
