"""One reader a format: `read(data: bytes, document_id: str) -> Document` in a module named after it."""
