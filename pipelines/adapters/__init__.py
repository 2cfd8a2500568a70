"""The old place of `spanwise.adapters`."""
