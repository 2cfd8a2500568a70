"""The command line: each verb parses, calls the public API and prints."""

from .main import main

__all__ = ["main"]
