"""`spanwise train`: one module a verb."""

from .app import app

__all__ = ["app"]
