"""Retrievers of LangChain, LlamaIndex and Haystack over a library; import the module of your framework."""
