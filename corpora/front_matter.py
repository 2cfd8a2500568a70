"""Front matter and template tags, the parts of a source that are not prose.

Front matter is YAML between lines of "---", or TOML between lines of "+++", at the very start. Only strings,
dates and lists of strings are read from YAML; a block of another form is text.
"""

import re
import tomllib
from pathlib import PurePosixPath
from typing import Any

from spanwise.types import Document

# Formats whose stored text includes the front matter.
STORED = frozenset(("text/markdown", "text/plain", "text/x-rst", "text/asciidoc"))
MATTER = re.compile(r"(?sm)(---|\+\+\+)[ \t]*\r?\n(?=\S)(.{0,50000}?)^(?:\1|\.\.\.)[ \t]*(?:\r?\n|\Z)")
KEY = re.compile(r"([A-Za-z_][\w .-]{0,60}?)[ \t]*:(?:[ \t]+(.*))?\Z")
COMMENT = re.compile(r"(?:\A|[ \t])#.*\Z")
RESERVED = frozenset(("encoding", "parser", "remark"))  # metadata that is not the author's
TEMPLATES = tuple(".erb .ejs .eex .hbs .j2 .jinja .jinja2 .liquid .mustache .njk .tmpl .tpl .twig".split())
CODE_OR_TAG = re.compile(
    r"(?<!`)(`++).{1,2000}?(?<!`)\1(?!`)|<%.{0,2000}?%>"
    r"|\{%-? *comment *-?%\}.{0,2000}?\{%-? *endcomment *-?%\}"
    r"|\{%.{0,2000}?%\}|\{#\s.{0,2000}?#\}|\{\{.{0,2000}?\}\}",
    re.DOTALL,
)


def inner_suffix(name: str) -> str:
    """The suffix of a file in lower case; for a template, the suffix of its output.

    >>> inner_suffix("a/index.html.md.erb"), inner_suffix("notes.MD"), inner_suffix("mailer.erb")
    ('.md', '.md', '.erb')
    """
    path = PurePosixPath(name.lower())
    return (path.suffix in TEMPLATES and PurePosixPath(path.stem).suffix) or path.suffix


def without_tags(source: str) -> str:
    """The source with a space for each template tag outside Markdown's code.

    >>> without_tags("# <%= title %> of {{ site }} in `{{ code }}`")
    '#   of   in `{{ code }}`'
    """
    return CODE_OR_TAG.sub(lambda match: match[0] if match[1] else " ", source)


def stored_front_matter(document: Document) -> tuple[int, dict[str, str]]:
    """The `front_matter` of the stored text; none for YAML files."""
    is_data = inner_suffix(document.id) in (".yml", ".yaml")
    return (0, {}) if is_data or document.media_type not in STORED else front_matter(document.text)


def front_matter(source: str) -> tuple[int, dict[str, str]]:
    """The offset below the front matter, and its values by key; 0 and no values without front matter.

    >>> front_matter("---\\ntitle: The mill\\ntags: [rye, oats]\\n---\\nIt grinds.")
    (42, {'title': 'The mill', 'tags': 'rye, oats'})
    """
    block = MATTER.match(source)
    if block is None:
        return 0, {}
    try:
        values = _yaml(block[2]) if block[1] == "---" else tomllib.loads(block[2])
    except (ValueError, RecursionError):  # another form, so it is text
        return 0, {}
    texts = {key: _text(value) for key, value in values.items() if key not in RESERVED}
    return block.end(), {key: text for key, text in texts.items() if text}


def _yaml(block: str) -> dict[str, list[str]]:
    """The values of lines of `key: value`, and of indented lines and lists below them."""
    values: dict[str, list[str]] = {}
    key = ""
    for line in filter(str.strip, block.splitlines()):
        if match := KEY.match(line):
            key = match[1]
            value = (match[2] or "").strip()
            inline = value[1:-1].split(",") if value.startswith("[") and value.endswith("]") else [value]
            values[key] = [] if value.startswith(("|", ">", "{", "&")) else [*map(_scalar, inline)]
        elif line.lstrip().startswith("- ") and key:
            values[key].append(_scalar(line.lstrip()[2:]))
        elif line[0].isspace() and key:  # the string goes on; mappings below a key are left out
            values[key] = [" ".join([*values[key], "" if KEY.match(line.strip()) else line.strip()])]
        elif not line.startswith("#"):
            raise ValueError(f"no key in {line!r:.60}")
    if not values:
        raise ValueError("no key")
    return values


def _scalar(value: str) -> str:
    """The text of a YAML string, without quotes and comment."""
    value = value.strip()
    if value[:1] in ("'", '"') and value[0] in value[1:]:
        return value[1:].rpartition(value[0])[0]
    return "" if value in ("~", "null") else COMMENT.sub("", value).strip()


def _text(value: Any) -> str:
    """The text of a value; lists are joined, and mappings are left out."""
    if isinstance(value, list):
        return ", ".join(filter(None, map(_text, value)))
    return "" if isinstance(value, dict) else str(value).strip()
