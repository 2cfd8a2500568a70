"""Readers of formats, each `read(data: bytes) -> TextBuilder` in a module of that name."""
