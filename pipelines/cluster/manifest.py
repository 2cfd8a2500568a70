"""The old place of `spanwise.ClusterOptions`."""

from ..moved import moved

moved(__name__, "spanwise")
