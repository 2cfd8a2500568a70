"""The old place of `spanwise.adapters.llama_index`."""

from ..moved import moved

moved(__name__, "spanwise.adapters.llama_index")
