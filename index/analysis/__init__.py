"""The one text analyzer, used alike on passages and on questions."""

from __future__ import annotations

from .analyzer import Analyzer, Token

__all__ = ["Analyzer", "Token"]
