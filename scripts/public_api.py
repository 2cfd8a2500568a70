"""What the public API is made of: each name with its signature, read from the code itself."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import spanwise

NAMESPACES = ("evaluation", "training")


class Text(str):
    """Words that stand in a signature as they are."""

    __slots__ = ()

    def __repr__(self) -> str:
        """The words."""
        return str(self)


def signature_of(given: Any, is_method: bool = False) -> str:
    """The signature as it is written in the source, without the object of a method.

    >>> def ask(question: "str", k: "int" = 20) -> "Answer": ...
    >>> signature_of(ask)
    '(question: str, k: int = 20) -> Answer'
    """
    found = inspect.signature(given)
    parameters = [
        one.replace(annotation=_as_written(one.annotation), default=_as_given(one.default))
        for one in list(found.parameters.values())[is_method:]
    ]
    return str(found.replace(parameters=parameters, return_annotation=_as_written(found.return_annotation)))


def members_of(kind: type) -> Iterator[tuple[str, str, Any]]:
    """The public methods and properties of a class, by name, each as it is called, and the object itself."""
    for name in sorted(name for name in dir(kind) if not name.startswith("_")):
        found = inspect.getattr_static(kind, name)
        if not any(name in vars(one) for one in kind.__mro__ if one.__module__.startswith("spanwise")):
            continue
        if isinstance(found, property):
            yield name, f"{name} -> {_as_written(inspect.signature(found.fget).return_annotation)}", found
        elif isinstance(found, classmethod | staticmethod):
            yield name, f"{name}{signature_of(found.__func__, isinstance(found, classmethod))}", found
        elif inspect.isfunction(found):
            awaited = "await " if inspect.iscoroutinefunction(found) else ""
            yield name, f"{awaited}{name}{signature_of(found, is_method=True)}", found


def lines() -> Iterator[str]:
    """Everything that is promised, a line for each name, method and error."""
    yield from _lines_of(spanwise, "spanwise")
    for name in NAMESPACES:
        yield from _lines_of(getattr(spanwise, name), f"spanwise.{name}")
    for name, error in sorted(vars(spanwise.errors).items()):
        if isinstance(error, type):
            yield f"spanwise.errors.{name}({', '.join(base.__name__ for base in error.__bases__)})"


def _lines_of(module: ModuleType, prefix: str) -> Iterator[str]:
    for name in sorted(module.__all__):
        given = getattr(module, name)
        if isinstance(given, type):
            yield f"{prefix}.{name}{signature_of(given)}"
            yield from (f"{prefix}.{name}: {member}" for _, member, _ in members_of(given))
        elif callable(given):
            yield f"{prefix}.{name}{signature_of(given)}"
        else:
            yield f"{prefix}.{name}"


def _as_written(annotation: Any) -> Any:
    return Text(annotation) if isinstance(annotation, str) else annotation


def _as_given(default: Any) -> Any:
    if default is inspect.Parameter.empty:
        return default
    if "<factory>" in repr(default):
        return Text("...")
    return Text(default.__name__) if inspect.isfunction(default) else default
