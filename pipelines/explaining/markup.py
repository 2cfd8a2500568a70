"""Elements of HTML and SVG, built so that no text in them can become markup."""

from __future__ import annotations

from collections.abc import Iterable

from markupsafe import Markup, escape

from ..visible import visible

Value = str | float | int


def element(name: str, content: Iterable[str] = (), /, **attributes: Value | None) -> Markup:
    """An element; `content` that is no `Markup` is escaped, and control characters in it are made visible.

    `_` in the name of an attribute stands for "-", a last one for nothing (`class_`); None leaves it out.

    >>> print(element("text", ["a < b"], x=1.25, text_anchor="end", class_="tick"))
    <text x="1.25" text-anchor="end" class="tick">a &lt; b</text>
    """
    written = Markup("").join(
        Markup(' {}="{}"').format(key.rstrip("_").replace("_", "-"), _written(value))
        for key, value in attributes.items()
        if value is not None
    )
    return Markup("<{0}{1}>{2}</{0}>").format(name, written, Markup("").join(map(shown, content)))


def shown(text: str) -> Markup:
    """The text as markup: escaped and with control characters made visible, unless it is markup already."""
    return text if isinstance(text, Markup) else escape(visible(text))


def _written(value: Value) -> str:
    return visible(value) if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")
