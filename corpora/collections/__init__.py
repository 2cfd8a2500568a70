"""Data sets of retrieval: test collections read from the formats they come in, and the files of DPR."""

from .collection import Collection, CollectionDocument, Query
from .detect import read_collection

__all__ = ["Collection", "CollectionDocument", "Query", "read_collection"]
