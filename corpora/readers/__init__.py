"""Readers of formats, each `read(data: bytes, document_id: str) -> Document` in a module of that name."""
