"""A model whose replies are written before."""

import json

NONE = {"evidence": [], "answer": [], "verdict": None, "status": "none", "search": []}


class Played:
    """A model with replies that are written before; it keeps its prompts."""

    name = "played"
    digest = ""
    context_tokens = 8_192

    def __init__(self, *replies):
        self.replies = [each if isinstance(each, str) else json.dumps(each) for each in replies]
        self.prompts = []

    def count_tokens(self, text):
        return len(text) // 4

    def generate(self, messages, max_tokens, timeout_s=None):
        self.prompts.append(messages)
        yield self.replies.pop(0)


def saying(text, *evidence, **changes):
    """The reply with one sentence that rests on all evidence."""
    listed = [{"s": number, "words": words} for number, words in evidence]
    answer = [{"text": text, "evidence": list(range(len(listed)))}]
    return {**NONE, "evidence": listed, "answer": answer, "status": "answered", **changes}


BUILT = saying("Ada Rook built it in 1811.", ("1.2", "built in 1811 by Ada Rook"))
