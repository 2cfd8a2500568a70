"""Imported by every Python that a test starts, because the tests put this folder on PYTHONPATH."""

import no_network

no_network.install()
