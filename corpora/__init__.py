"""Files become documents, documents become passages with exact offsets."""
