"""Ranks passages for questions: TF-IDF, BM25, dense vectors, token vectors and their fusion."""

from .protocol import Encoder, Encoders, Retriever, TokenEncoder
from .retrievers import build, stages_of

__all__ = ["Encoder", "Encoders", "Retriever", "TokenEncoder", "build", "stages_of"]
