"""File types have the names that people have for them."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from spanwise.corpora import readers
from spanwise.corpora.file_types import NAMES, names_of, type_name


def test_every_type_that_a_reader_gives_has_a_name():
    modules = [importlib.import_module(f"{readers.__name__}.{each.name}") for each in _modules()]
    given = {module.MEDIA_TYPE for module in modules if hasattr(module, "MEDIA_TYPE")}
    assert len(given) > 15
    assert given <= set(NAMES)


def test_no_name_means_two_types():
    names = [name for each in NAMES.values() for name in each]
    assert len(names) == len(set(names))


def test_a_type_without_a_name_has_its_own():
    assert names_of("image/png") == ("image/png",)


@pytest.mark.parametrize("given", ["md", ".md", "MD", " .Md "])
def test_a_type_may_be_spelled_like_a_suffix(given):
    assert type_name(given) == "md"


def _modules():
    return pkgutil.iter_modules(readers.__path__)
