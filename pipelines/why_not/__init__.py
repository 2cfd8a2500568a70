"""At which stage a document was lost that should have answered a question."""
