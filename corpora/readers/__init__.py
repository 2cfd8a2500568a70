"""One reader a format: bytes in, a Document out."""
