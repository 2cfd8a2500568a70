"""The old place of `spanwise.adapters.langchain`."""

from ..moved import moved

moved(__name__, "spanwise.adapters.langchain")
