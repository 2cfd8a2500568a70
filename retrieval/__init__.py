"""Ranks passages for questions: TF-IDF, BM25, dense vectors, token vectors and their fusion."""

from __future__ import annotations

from .encoders import Encoders
from .protocol import Encoder, Retriever, TokenEncoder
from .registry import build_retriever, stages_of

__all__ = ["Encoder", "Encoders", "Retriever", "TokenEncoder", "build_retriever", "stages_of"]
