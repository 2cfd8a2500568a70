"""Writing from passages: prompts, models and endpoints behind one protocol, the budget of tokens."""
