"""The command line: each verb parses, calls the public API and prints."""

from .app import main

__all__ = ["main"]
