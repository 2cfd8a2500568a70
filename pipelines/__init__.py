"""Where the layers meet: sync, search, ask, train, evaluate, and the command line."""

import sys

from .moved import OldNames

sys.meta_path.append(OldNames())
