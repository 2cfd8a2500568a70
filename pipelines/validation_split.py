"""The split that every model is selected on: articles by the digest of their title."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from ..corpora.squad import Article

PARTS = 20


def is_validation(title: str) -> bool:
    """True when sha1(title) % 20 == 0: about one article in twenty, the same ones for ever."""
    return int(hashlib.sha1(title.encode("utf-8")).hexdigest(), 16) % PARTS == 0


def split_articles(articles: Iterable[Article]) -> tuple[list[Article], list[Article]]:
    """The articles to train on and those to select on."""
    training: list[Article] = []
    validation: list[Article] = []
    for article in articles:
        (validation if is_validation(article.title) else training).append(article)
    return training, validation
