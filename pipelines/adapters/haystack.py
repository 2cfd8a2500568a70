"""The old place of `spanwise.adapters.haystack`."""

from ..moved import moved

moved(__name__, "spanwise.adapters.haystack")
