"""Writes docs/api.md from signatures and docstrings, and docs/cli.md from the help of each command.

Run `python scripts/api_page.py` after a change of any of these; a test compares both pages with the code.
"""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import spanwise

DOCS = Path(__file__).resolve().parent.parent / "docs"
NAMESPACES = ("evaluation", "training")
WIDTH = 100

API = """# The Python API

Names, arguments and defaults on this page change only with a new version, and the changelog lists the change.
Everything else in the package may change at any time. `import spanwise` loads the standard library only; each
name is loaded when it is used. The package is typed (`py.typed`).

```python
import spanwise

with spanwise.open("notes") as library:
    library.sync()
    answer = library.ask("who founded the mill?")
    print(answer.text, answer.span, answer.confidence)
```

Threads may share a `Library`; one computes at a time. In asyncio, call
`await asyncio.to_thread(library.ask, question)`.
"""
CLI = """# The command line

Generated from `--help-all`; `-h` shows common options. Results go to stdout, talk to stderr. Exit
code 0: done; 1: a named error in one line; 2: wrong usage. Defaults of options come from variables, as
`SPANWISE_ASK_K=10`, then from `spanwise.toml` in the current folder, as `k = 10` under `[ask]`. The
[guide](guide.md#settings) lists the variables.
"""


def api_page() -> str:
    """The text of docs/api.md."""
    names = sorted(set(spanwise.__all__) - {"errors", "__version__", *NAMESPACES})
    parts = [API, *(part for name in names for part in _section(name, getattr(spanwise, name)))]
    parts.append("## Errors\n\n`spanwise.errors`; each is a subclass of the one in brackets.\n")
    parts.append("\n".join(_errors()) + "\n")
    for name in NAMESPACES:
        parts += [f"## spanwise.{name}\n", "\n".join(_list(getattr(spanwise, name))) + "\n"]
    return "\n".join(parts)


def cli_page() -> str:
    """The text of docs/cli.md."""
    from spanwise.pipelines.cli.main import VERBS, command_of

    parts = [CLI]
    for name in VERBS:
        command = command_of(name)
        below = getattr(command, "commands", None) or {"": command}
        for sub, leaf in below.items():
            path = " ".join(filter(None, (name, sub)))
            context = leaf.context_class(leaf, info_name=f"spanwise {path}", terminal_width=WIDTH)
            parts.append(f"## spanwise {path}\n\n```\n{leaf.get_help(context)}\n```\n")
    return "\n".join(parts)


def _section(name: str, value: Any) -> Iterator[str]:
    """The section of a class with its members, a function, or an alias."""
    yield f"## `{name}`\n\n```python\n{name}{_signature(value)}\n```\n\n{inspect.getdoc(value) or ''}\n"
    if not isinstance(value, type):
        return
    for member in sorted(name for name in dir(value) if not name.startswith("_")):
        attribute = inspect.getattr_static(value, member)
        if isinstance(attribute, property):
            yield f"- `{member}`: {_first_sentence(attribute)}\n"
        elif inspect.isfunction(attribute):
            yield f"- `{member}{_signature(attribute, skip=1)}`: {_first_sentence(attribute)}\n"


def _errors() -> Iterator[str]:
    for name, error in sorted(vars(spanwise.errors).items()):
        if isinstance(error, type) and issubclass(error, Exception):
            yield f"- `{name}` ({error.__bases__[0].__name__}): {_first_sentence(error)}"


def _list(module: ModuleType) -> Iterator[str]:
    for name in sorted(module.__all__):
        value = getattr(module, name)
        yield f"- `{name}{_signature(value)}`: {_first_sentence(value)}"


def _signature(value: Any, skip: int = 0) -> str:
    """The signature as in the source, without `self` where `skip` is 1; "" for a type alias."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = []
    for parameter in list(signature.parameters.values())[skip:]:
        default = parameter.default
        if inspect.isfunction(default):
            default = _Text(default.__name__)
        elif "<factory>" in repr(default):
            default = _Text("...")
        parameters.append(parameter.replace(annotation=_text(parameter.annotation), default=default))
    returned = _text(signature.return_annotation)
    return str(signature.replace(parameters=parameters, return_annotation=returned))


class _Text(str):
    """A text whose representation has no quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def _text(annotation: Any) -> Any:
    return _Text(annotation) if isinstance(annotation, str) else annotation


def _first_sentence(value: Any) -> str:
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())


PAGES = {DOCS / "api.md": api_page, DOCS / "cli.md": cli_page}

if __name__ == "__main__":
    for path, text in PAGES.items():
        path.write_text(text(), encoding="utf-8")
