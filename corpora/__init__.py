"""From files to documents, and from documents to passages with exact offsets."""
