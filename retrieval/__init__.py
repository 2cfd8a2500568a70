"""Ranks passages for questions: TF-IDF, BM25, dense vectors and their fusion."""

from __future__ import annotations

from .protocol import Encoder, Retriever
from .registry import build_retriever, stages_of

__all__ = ["Encoder", "Retriever", "build_retriever", "stages_of"]
